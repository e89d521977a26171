/**
 * Where files lie. Implementations: the local file system; S3 and web servers (read only) in folders beside it.
 * Locations are the URIs or paths that table metadata names. Every error names the location.
 */
import type { StoreGrant } from './store-grant.js';

export interface ObjectInfo {
  readonly location: string;
  readonly sizeBytes: number;
  /** Changes whenever the content may have changed: an ETag; for local files size, mtime and inode. */
  readonly version: string;
  /** When it was written, milliseconds since 1970, where the storage knows. */
  readonly modifiedMs?: number;
}

/** Half-open: `[start, end)`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** When given, a changed object is STORAGE_ERROR instead of mixed bytes. */
  readonly version?: string;
}

export interface RangeReadOptions extends ReadOptions {
  /**
   * Buffers of the ranges' lengths, in their order, that the answer may be made of. Nothing is written to them any more when
   * there is an answer or an error.
   */
  readonly into?: readonly Uint8Array[];
}

/** At most one of the conditions. */
export interface WriteOptions extends ReadOptions {
  /** Fails with COMMIT_CONFLICT when the object exists. */
  readonly ifAbsent?: boolean;
  /**
   * Fails with COMMIT_CONFLICT unless the object is there with this version. Where storage cannot see to that, nothing is written:
   * NOT_SUPPORTED.
   */
  readonly ifVersion?: string;
}

export interface BelievedSize {
  readonly sizeBytes: number;
  /** At most `sizeBytes`. */
  readonly tailBytes: number;
}

export interface HeadWithTail {
  readonly info: ObjectInfo;
  readonly tail?: Uint8Array;
}

export interface ObjectStore {
  /**
   * What tells its files from those of other stores at the same locations: of which catalog and table, and at which server
   * they are. Part of the key of whatever is kept of a file. Without it a location is one file, whoever asks for it.
   */
  readonly scope?: string;
  head(location: string, options?: ReadOptions): Promise<ObjectInfo>;
  /**
   * As `head`, of a file that is believed to have so many bytes. Where asking takes a request, its answer may bring the last
   * `tailBytes` along: never of a file that has another size.
   */
  headWithTail?(location: string, believed: BelievedSize, options?: ReadOptions): Promise<HeadWithTail>;
  read(location: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Answers one buffer per range, in the order asked. A range outside of the file is DATA_CORRUPT naming it. */
  readRanges(
    location: string,
    ranges: readonly ByteRange[],
    options?: RangeReadOptions,
  ): Promise<readonly Uint8Array[]>;
  /** Files and folders directly below a prefix folder, by name. A missing folder is empty. */
  list(folder: string, options?: ReadOptions): Promise<readonly ListEntry[]>;
  /**
   * Atomic, with a condition or without. Where objects lie in folders, theirs is made if it is missing, but not the one
   * that it lies in: DATA_FILE_MISSING.
   */
  write(location: string, body: Uint8Array, options?: WriteOptions): Promise<ObjectInfo>;
  /** Makes a local file the content of a new object, whatever its size; the file may be gone afterwards. Atomic. */
  moveIn(location: string, path: string, options?: ReadOptions): Promise<void>;
  delete(location: string, options?: ReadOptions): Promise<void>;
  /** The path of the file when it lies on this machine's disk, so that it may be read in place. */
  localPath(location: string): string | undefined;
  /** What another machine needs to open the same files as the same user. Absent where that cannot be. */
  grant?(signal?: AbortSignal): Promise<StoreGrant>;
}

export interface ListEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

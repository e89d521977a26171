/** Avro object container files (Avro specification, "Object Container Files"): manifests and manifest lists. */
import { AvroError, namedAvroError } from './avro-error.js';
import { decompressBlock } from './codecs.js';
import { AvroCursor } from './cursor.js';
import { createPacer } from './pacer.js';
import { type AvroType, hasBytes, parseAvroSchema } from './schema.js';
import { readerOf, type Shape } from './shapes.js';

const magic = 0x4f626a01; // "Obj", version 1
export const syncBytes = 16;
/** All blocks of one file together, decompressed. A manifest of 100,000 files with full statistics has less than half. */
const maxFileBytes = 256 * 1024 * 1024;
/** What is written once more for each file of a manifest compresses by 30 or 60; by more only what is nothing else. */
const maxExpansion = 200;
/** Up to here a file may expand as it likes. */
const smallFileBytes = 16 * 1024 * 1024;
/** A record of few bytes becomes an object of many. */
const maxRecords = 2_000_000;
/** Decompressed before other work gets its turn; a block costs as much as these bytes more, however small it is. */
const sliceBytes = 2 * 1024 * 1024;
const blockOverheadBytes = 4096;

export interface AvroFile {
  /** The file's location, for messages. */
  readonly source: string;
  /** The header's entries: Iceberg keeps `schema`, `partition-spec`, `format-version` and more there. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  readonly schema: AvroType;
  readonly recordCount: number;
  /** All records, decompressed and without the seams of their blocks: some writers make a block of every record. */
  readonly records: Uint8Array;
}

/**
 * Reads the header and decompresses all blocks, in slices. Throws DATA_CORRUPT naming `source` and what is wrong with it,
 * UNSUPPORTED_TABLE_FEATURE for an unknown codec.
 */
export async function openAvroFile(
  bytes: Uint8Array,
  source: string,
  signal?: AbortSignal,
): Promise<AvroFile> {
  try {
    const cursor = new AvroCursor(bytes);
    const { metadata, sync } = readAvroHeader(cursor);
    const { schema, codec } = schemaOfHeader(metadata);
    const maxBytes = Math.min(maxFileBytes, Math.max(smallFileBytes, bytes.length * maxExpansion));
    const blocks = await readBlocks(cursor, { sync, codec, source, signal, maxBytes });
    return { source, metadata, schema, ...blocks };
  } catch (error) {
    throw namedAvroError(source, error);
  }
}

export interface AvroHeader {
  readonly metadata: AvroFile['metadata'];
  /** What stands behind each block. A view of the cursor's bytes. */
  readonly sync: Buffer;
}

/** Moves on to the first block. Throws an AvroError, also when the header goes on behind the cursor's bytes. */
export function readAvroHeader(cursor: AvroCursor): AvroHeader {
  if (cursor.remaining < 4 || cursor.bytes.readUInt32BE(0) !== magic)
    throw new AvroError('it does not begin with an Avro header');
  cursor.advance(4);
  const metadata = readMetadata(cursor);
  return { metadata, sync: cursor.take(syncBytes) };
}

/** Throws an AvroError. */
export function schemaOfHeader(metadata: AvroFile['metadata']): {
  readonly schema: AvroType;
  readonly codec: string;
} {
  const schemaText = metadata.get('avro.schema');
  if (schemaText === undefined) throw new AvroError('its header has no schema');
  const codec = Buffer.from(metadata.get('avro.codec') ?? Buffer.from('null')).toString();
  const schema = internSchema(Buffer.from(schemaText).toString('utf8'));
  if (!hasBytes(schema)) throw new AvroError('its records have no content');
  return { schema, codec };
}

/** What keeping the file takes: measured with manifests of one entry, objects and names are some 2 kB. */
export function avroFileBytes({ metadata, records }: AvroFile): number {
  let bytes = records.buffer.byteLength + 2048;
  for (const value of metadata.values()) bytes += value.length;
  return bytes;
}

/** The file's records in the given shape, one at a time. Errors as `openAvroFile`. */
export function* readAvroRecords<T>(file: AvroFile, shape: Shape<T>): Generator<T, void, undefined> {
  try {
    const read = readerOf(file.schema, shape);
    const cursor = new AvroCursor(file.records);
    for (let left = file.recordCount; left > 0; left--) yield read(cursor);
    if (cursor.remaining > 0) throw new AvroError('it has more data than its records');
  } catch (error) {
    throw namedAvroError(file.source, error);
  }
}

/** A table's manifests nearly always have one schema: parsed once, and its readers compiled once (see `readerOf`). */
const schemas = new Map<string, AvroType>();
const maxSchemas = 64;
const maxInternedLength = 64 * 1024;

function internSchema(schemaText: string): AvroType {
  const known = schemas.get(schemaText);
  if (known !== undefined) return known;
  const schema = parseAvroSchema(schemaText);
  if (schemaText.length > maxInternedLength) return schema;
  const [oldest] = schemas.keys();
  if (schemas.size >= maxSchemas && oldest !== undefined) schemas.delete(oldest);
  schemas.set(schemaText, schema);
  return schema;
}

function readMetadata(cursor: AvroCursor): ReadonlyMap<string, Uint8Array> {
  const metadata = new Map<string, Uint8Array>();
  for (let count = cursor.blockCount(); count > 0; count = cursor.blockCount())
    for (; count > 0; count--) metadata.set(cursor.text(), Uint8Array.from(cursor.byteString())); // Not a view of the file.
  return metadata;
}

interface BlockFormat {
  readonly sync: Buffer;
  readonly codec: string;
  readonly source: string;
  /** Of all blocks, decompressed. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

async function readBlocks(
  cursor: AvroCursor,
  { sync, codec, source, maxBytes, signal }: BlockFormat,
): Promise<Pick<AvroFile, 'recordCount' | 'records'>> {
  const pacer = createPacer(sliceBytes, signal);
  const blocks: Uint8Array[] = [];
  let [recordCount, totalBytes] = [0, 0];
  while (cursor.remaining > 0) {
    const count = cursor.integer();
    const compressed = cursor.byteString();
    if (!cursor.take(syncBytes).equals(sync))
      throw new AvroError('a block does not end with the sync marker');
    const block = decompressBlock(codec, compressed, { source, maxBytes: maxBytes - totalBytes });
    if (count < 0 || count > block.length)
      throw new AvroError(`a block of ${block.length} bytes cannot hold ${count} records`);
    recordCount += count;
    totalBytes += block.length;
    if (totalBytes > maxBytes) throw new AvroError(`it decompresses to more than ${maxBytes} bytes`);
    if (recordCount > maxRecords) throw new AvroError(`it has more than ${maxRecords} records`);
    blocks.push(block);
    if (pacer.spend(block.length + blockOverheadBytes)) await pacer.pause();
  }
  const [only] = blocks;
  return { recordCount, records: blocks.length === 1 && only !== undefined ? only : Buffer.concat(blocks) };
}

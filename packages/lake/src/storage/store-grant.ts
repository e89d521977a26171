/**
 * What a store was granted, as plain data: so that the same files can be opened on another machine. It holds secrets, and
 * goes nowhere but into a fragment of the user that it was granted to.
 */

export interface GrantedS3 {
  readonly kind: 's3';
  /** See ObjectStore. */
  readonly scope: string | undefined;
  /** For each location the entry of the longest prefix counts; without one nothing is opened. */
  readonly prefixes: readonly GrantedPrefix[];
}

export interface GrantedPrefix {
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly pathStyle: boolean | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  /** Milliseconds since 1970; without it, until storage refuses them. */
  readonly expiresAtMs: number | undefined;
}

/** Files of this machine: of use only to what runs on it. */
export interface GrantedFolder {
  readonly kind: 'files';
}

export type StoreGrant = GrantedS3 | GrantedFolder;

/** Where the rules of SQL lie: one text, replaced as a whole. Implementations: a file, an object of S3. */
export interface RulePlace {
  /** For messages. */
  readonly name: string;
  /** Whether others write there too, so that it has to be looked at again and again. */
  readonly isShared: boolean;
  /** Undefined: there is none. Throws STORAGE_ERROR and the like. */
  read(signal: AbortSignal): Promise<PlacedDocument | undefined>;
  /** Less than reading: what `version` would be. */
  version(signal: AbortSignal): Promise<string | undefined>;
  /**
   * Durable and whole once it has returned the new version. Throws COMMIT_CONFLICT where what is there is not `replaced`
   * (undefined: nothing), COMMIT_OUTCOME_UNKNOWN.
   */
  write(text: string, replaced: string | undefined, signal: AbortSignal): Promise<string>;
}

export interface PlacedDocument {
  readonly bytes: Uint8Array;
  /** Other bytes have another one. */
  readonly version: string;
}

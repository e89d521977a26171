/** What USE, SET and Flight's session options change. A new value is a new object: running queries keep theirs. */
export interface SessionSettings {
  readonly catalog: string;
  readonly schema: string | undefined;
  readonly timeZone: string;
  /** Lower than the configured limits only. */
  readonly queryTimeoutMs: number | undefined;
  readonly maxResultBytes: number | undefined;
}

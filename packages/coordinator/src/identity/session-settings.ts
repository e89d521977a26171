/** What USE, SET and Flight's session options change. A new value is a new object: running queries keep theirs. */
export interface SessionSettings {
  readonly catalog: string;
  readonly schema: string | undefined;
  readonly timeZone: string;
  /** Lower than the configured limits only. */
  readonly queryTimeoutMs: number | undefined;
  readonly maxResultBytes: number | undefined;
  readonly execution: ExecutionPlace;
}

/** Where queries run. `auto`: where it pays; all others are an order. */
export const executionPlaces = ['auto', 'local', 'workers', 'lambda'] as const;
export type ExecutionPlace = (typeof executionPlaces)[number];

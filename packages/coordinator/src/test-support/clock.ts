/** A clock that only the test moves. */
export interface FakeClock {
  readonly now: () => number;
  advance(ms: number): void;
}

export function fakeClock(startMs = 1_000_000): FakeClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

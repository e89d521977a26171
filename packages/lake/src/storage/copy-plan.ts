import type { ByteRange } from './object-store.js';

/** Bytes that are to be copied, in the order in which they are written, and where they are to be had. */
export interface CopyStep<S> {
  readonly source: S;
  readonly start: number;
  readonly end: number;
}

/** One read, and the parts of it that are written one after the other. */
export interface Fetch<S> extends ByteRange {
  readonly source: S;
  /** Relative to `start`. */
  readonly slices: readonly ByteRange[];
}

export interface CopyPlanOptions {
  readonly maxFetchBytes: number;
  /** A gap up to this size is read and dropped rather than asked around. */
  readonly maxGapBytes: number;
}

/**
 * Joins neighbouring steps of one source into reads of at most `maxFetchBytes`, and divides longer ones. The slices
 * of all fetches, in order, are exactly the steps.
 */
export function planFetches<S>(steps: readonly CopyStep<S>[], options: CopyPlanOptions): readonly Fetch<S>[] {
  const fetches: { source: S; start: number; end: number; slices: ByteRange[] }[] = [];
  for (const step of steps) {
    let start = step.start;
    while (start < step.end) {
      const last = fetches.at(-1);
      const gap = last === undefined || last.source !== step.source ? -1 : start - last.end;
      const room = last === undefined ? 0 : last.start + options.maxFetchBytes - start;
      if (last !== undefined && gap >= 0 && gap <= options.maxGapBytes && room > 0) {
        const end = Math.min(step.end, start + room);
        appendSlice(last.slices, start - last.start, end - last.start);
        last.end = end;
        start = end;
      } else {
        const end = Math.min(step.end, start + options.maxFetchBytes);
        fetches.push({ source: step.source, start, end, slices: [{ start: 0, end: end - start }] });
        start = end;
      }
    }
  }
  return fetches;
}

function appendSlice(slices: ByteRange[], start: number, end: number): void {
  const last = slices.at(-1);
  if (last?.end === start) slices[slices.length - 1] = { start: last.start, end };
  else slices.push({ start, end });
}

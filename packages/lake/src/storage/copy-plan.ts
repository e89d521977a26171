import type { ByteRange } from './object-store.js';

/** Bytes that are to be copied, in the order in which they are written, and where they are to be had. */
export interface CopyStep<S> {
  readonly source: S;
  readonly start: number;
  readonly end: number;
  /** Of one read of this source, where that is not `maxFetchBytes`. */
  readonly maxReadBytes?: number;
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
    const { source, maxReadBytes = options.maxFetchBytes } = step;
    let start = step.start;
    while (start < step.end) {
      const last = fetches.at(-1);
      const gap = last === undefined || last.source !== source ? -1 : start - last.end;
      const room = last === undefined ? 0 : last.start + maxReadBytes - start;
      if (last !== undefined && gap >= 0 && gap <= options.maxGapBytes && room > 0) {
        const end = Math.min(step.end, start + room);
        appendSlice(last.slices, start - last.start, end - last.start);
        last.end = end;
        start = end;
      } else {
        const end = Math.min(step.end, start + maxReadBytes);
        fetches.push({ source, start, end, slices: [{ start: 0, end: end - start }] });
        start = end;
      }
    }
  }
  return fetches;
}

/** Gaps of so many bytes together cost less than a request, whatever is read beside them. */
const freeGapBytes = 16 * 1024;
/** Of what is wanted, how much may be read and dropped. */
const maxGapShare = 1 / 12;

/**
 * The largest gap, up to `maxGapBytes`, that may be read and dropped wherever it occurs: all gaps that are not larger take
 * little beside what is wanted.
 */
export function gapLimit<S>(steps: readonly CopyStep<S>[], maxGapBytes: number): number {
  const wanted = steps.reduce((sum, { start, end }) => sum + end - start, 0);
  let left = Math.max(freeGapBytes, wanted * maxGapShare);
  const gaps = steps
    .flatMap((step, index) => {
      const before = steps[index - 1];
      return before?.source === step.source ? [step.start - before.end] : [];
    })
    .filter((gap) => gap > 0 && gap <= maxGapBytes)
    .sort((a, b) => a - b);
  for (const [index, gap] of gaps.entries()) {
    left -= gap;
    if (left < 0) return gaps[index - 1] === gap ? gap - 1 : (gaps[index - 1] ?? 0);
  }
  return maxGapBytes;
}

function appendSlice(slices: ByteRange[], start: number, end: number): void {
  const last = slices.at(-1);
  if (last?.end === start) slices[slices.length - 1] = { start: last.start, end };
  else slices.push({ start, end });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gapLimit, planFetches } from './copy-plan.js';

const KiB = 1024;
const maxGap = 256 * KiB;

/** Steps of `length` with the gaps between them. */
function stepsWith(gaps: readonly number[], length: number) {
  let start = 0;
  return [0, ...gaps].map((gap) => {
    start += gap;
    const step = { source: 'file', start, end: start + length };
    start += length;
    return step;
  });
}

test('a source that is read in smaller pieces is, and another is not', () => {
  const steps = [
    { source: 'entry', start: 0, end: 25, maxReadBytes: 10 },
    { source: 'storage', start: 100, end: 125 },
  ];
  const fetches = planFetches(steps, { maxFetchBytes: 100, maxGapBytes: 0 });
  assert.deepEqual(
    fetches.map(({ source, start, end }) => [source, start, end]),
    [
      ['entry', 0, 10],
      ['entry', 10, 20],
      ['entry', 20, 25],
      ['storage', 100, 125],
    ],
  );
});

test('gaps are read while they are little beside what is wanted', () => {
  assert.equal(gapLimit(stepsWith([100 * KiB, 200 * KiB], 2048 * KiB), maxGap), maxGap);
  assert.equal(gapLimit(stepsWith([30 * KiB, 200 * KiB], 512 * KiB), maxGap), 30 * KiB);
  assert.equal(gapLimit(stepsWith([60 * KiB], 200 * KiB), maxGap), 0);
  assert.equal(gapLimit(stepsWith([60 * KiB, 60 * KiB, 60 * KiB], 400 * KiB), maxGap), 60 * KiB - 1);
});

test('small files are read in one piece, and gaps that are too large for any are not counted', () => {
  assert.equal(gapLimit(stepsWith([5 * KiB, 6 * KiB], KiB), maxGap), maxGap);
  assert.equal(gapLimit(stepsWith([1024 * KiB], KiB), maxGap), maxGap);
  assert.equal(gapLimit([], maxGap), maxGap);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gapLimit } from './copy-plan.js';

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

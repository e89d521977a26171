import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { progressText } from './progress-line.js';

describe('the progress line', () => {
  it('says only what is known', () => {
    assert.equal(progressText({ elapsedMs: 1500, fraction: undefined, rows: 0, bytes: 0 }), '1.5 s');
    assert.equal(
      progressText({ elapsedMs: 4000, fraction: 0.4, rows: 1234, bytes: 2e6 }),
      '████████░░░░░░░░░░░░  40 %  4.0 s  about 6 s left  1,234 rows  2.0 MB',
    );
  });
});

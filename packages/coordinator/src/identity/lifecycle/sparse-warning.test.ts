import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, parseLogFilter } from '@svc/base';
import { fakeClock } from '../../test-support/clock.js';
import { createSparseWarning } from './sparse-warning.js';

describe('a sparse warning', () => {
  it('is written at once, then once a minute with how often it was not', () => {
    const clock = fakeClock();
    const lines: string[] = [];
    const logger = createLogger('test', {
      write: (line) => lines.push(line),
      filter: parseLogFilter('warn'),
    });
    const warn = createSparseWarning(logger, 'lost', { now: clock.now });
    for (let second = 0; second <= 60; second += 1) {
      warn({ error_message: `${second}` });
      clock.advance(1000);
    }
    const records = lines.map((line): Record<string, unknown> => JSON.parse(line));
    assert.deepEqual(
      records.map(({ level, error_message, not_logged }) => [level, error_message, not_logged]),
      [
        ['warn', '0', undefined],
        ['warn', '60', 59],
      ],
    );
  });
});

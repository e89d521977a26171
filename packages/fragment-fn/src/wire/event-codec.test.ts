import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { damaged } from '../test-support/damage.js';
import { decodeEventHeader, type EventHeader, encodeEventHeader } from './event-codec.js';

const statistics = {
  filesRead: 3,
  bytesStaged: 2 ** 40,
  bytesFetched: 0,
  rowsScanned: 2n ** 60n,
  rowsReturned: 0n,
  spilledBytes: 1n,
  peakMemoryBytes: 255n,
  stagingMs: 0.125,
  engineMs: 17.5,
};

const events: readonly EventHeader[] = [
  { kind: 'message', split: 0, messageKind: 'batch', rowCount: 2048 },
  { kind: 'message', split: 70_000, messageKind: 'dictionary', rowCount: 0 },
  { kind: 'end', split: 5, rowCount: 6_001_215n, statistics },
  { kind: 'error', error: { code: 'EVALUATION_ERROR', message: 'ö'.repeat(16_000), retryable: false } },
];

describe('the header of an event', () => {
  it('arrives as it was sent', () => {
    for (const event of events) assert.deepEqual(decodeEventHeader(encodeEventHeader(event)), event);
  });

  it('of a batch is a few bytes', () => {
    assert.ok(encodeEventHeader(events[0] ?? assert.fail()).byteLength <= 12);
  });

  it('may have what a newer executor adds', () => {
    const [message] = events;
    assert.ok(message);
    const bytes = Uint8Array.of(...encodeEventHeader(message), 60, 1, 0);
    assert.deepEqual(decodeEventHeader(bytes), message);
  });

  it('with an error that is not known here tells of a defect', () => {
    const error = { code: 'NEWER_ERROR' as 'INTERNAL_ERROR', message: 'New.', retryable: true };
    assert.deepEqual(decodeEventHeader(encodeEventHeader({ kind: 'error', error })), {
      kind: 'error',
      error: { ...error, code: 'INTERNAL_ERROR' },
    });
  });

  it('that is none is the executor that cannot be used', () => {
    const wrong = [
      new Uint8Array(),
      new Uint8Array(10_000_000),
      encodeEventHeader({ kind: 'end', split: 1, rowCount: -1n, statistics }),
      encodeEventHeader({
        kind: 'end',
        split: 1,
        rowCount: 1n,
        statistics: { ...statistics, engineMs: Number.NaN },
      }),
    ];
    for (const bytes of wrong) assert.throws(() => decodeEventHeader(bytes), { code: 'EXECUTOR_LOST' });
    for (const event of events)
      for (const { bytes } of damaged(encodeEventHeader(event), { seed: 7, count: 1000 }))
        try {
          decodeEventHeader(bytes);
        } catch (error) {
          assert.ok(error instanceof QueryError && error.code === 'EXECUTOR_LOST', String(error));
        }
  });
});

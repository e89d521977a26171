import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { type EventHeader, encodeEventHeader, encodeFrame, type SpooledPart } from '@svc/fragment-fn';
import { type AnswerEvent, readAnswer } from './read-answer.js';

const statistics = {
  filesRead: 1,
  bytesStaged: 2,
  bytesFetched: 3,
  rowsScanned: 4n,
  rowsReturned: 5n,
  spilledBytes: 6n,
  peakMemoryBytes: 7n,
  stagingMs: 8,
  engineMs: 9,
};
const schema = encodeFrame({ kind: 'schema', body: Uint8Array.of(1, 2, 3) });
const batch = (split: number, rowCount: number) =>
  encodeFrame({
    kind: 'event',
    header: encodeEventHeader({ kind: 'message', split, messageKind: 'batch', rowCount }),
    arrowHeader: Uint8Array.of(4, 5, 6),
    body: new Uint8Array(16).fill(rowCount),
  });
const end = (split: number, rowCount: bigint) => event({ kind: 'end', split, rowCount, statistics });
const event = (header: EventHeader) => encodeFrame({ kind: 'event', header: encodeEventHeader(header) });
const last = (frames: number, parts = 0) =>
  encodeFrame({ kind: 'end', header: json({ frames, parts, isColdStart: true, durationMs: 5 }) });
const json = (value: object) => Buffer.from(JSON.stringify(value));
const part = (place: Partial<SpooledPart>) =>
  encodeFrame({ kind: 'part', header: json({ part: 0, bytes: 1, sha256: '0'.repeat(64), ...place }) });

/** As if they came in pieces of so many bytes. */
async function read(frames: readonly Uint8Array[], pieceBytes = 7, spooled: readonly Uint8Array[] = []) {
  const bytes = Buffer.concat(frames);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const events: AnswerEvent[] = [];
  const source = {
    chunks: chunks(),
    splits: [10, 20].map((id) => ({ id, scan: undefined as never })),
    readPart: async () => Buffer.concat(spooled),
    onSummary: () => undefined,
  };
  for await (const each of readAnswer(source)) events.push(each);
  return events;
}

const whole = [schema, batch(10, 2), batch(10, 1), end(10, 3n), end(20, 0n), last(5)];

describe('the answer of a function', () => {
  it('is read in whatever pieces it comes', async () => {
    for (const pieceBytes of [1, 5, 16, 1000]) {
      const events = await read(whole, pieceBytes);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['schema', 'message', 'message', 'end', 'end'],
      );
      const [, message] = events;
      assert.ok(message?.kind === 'message' && message.message.body.byteOffset % 8 === 0);
      assert.deepEqual([...message.message.header, ...message.message.body.subarray(0, 2)], [4, 5, 6, 2, 2]);
    }
  });

  it('goes on in a part where the stream says so', async () => {
    const frames = [schema, part({}), end(20, 0n), last(6, 1)];
    const events = await read(frames, 1000, [batch(10, 1), batch(10, 1), end(10, 2n)]);
    assert.equal(events.length, 5);
  });

  it('is lost when it is cut at any byte', async () => {
    const bytes = Buffer.concat(whole);
    for (let length = 0; length < bytes.length; length += 1)
      await assert.rejects(read([bytes.subarray(0, length)], 100), lost, `${length} bytes`);
  });

  it('is lost when a byte of a frame is another one, or it is what was said', async () => {
    const bytes = Buffer.concat(whole);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      // Bodies are Arrow's: whoever reads them tells.
      await read([changed], 100).catch((error: unknown) => assert.ok(lost(error), String(error)));
    }
  });

  it('is lost when it says what cannot be', async () => {
    const lies: Readonly<Record<string, readonly Uint8Array[]>> = {
      'another count of rows': [schema, batch(10, 2), end(10, 3n), end(20, 0n), last(4)],
      'a split of nobody': [schema, batch(30, 2), end(10, 0n), end(20, 0n), last(4)],
      'rows behind their end': [schema, end(10, 0n), batch(10, 1), end(20, 0n), last(4)],
      'an end twice': [schema, end(10, 0n), end(10, 0n), end(20, 0n), last(4)],
      'no end of a split': [schema, end(10, 0n), last(2)],
      'no schema': [end(10, 0n), end(20, 0n), last(2)],
      'two schemas': [schema, schema, end(10, 0n), end(20, 0n), last(4)],
      'fewer frames': [schema, end(10, 0n), end(20, 0n), last(4)],
      'a part that is not the next': [schema, part({ part: 1 }), last(2, 1)],
      'something behind its end': [...whole, end(20, 0n)],
    };
    for (const [what, frames] of Object.entries(lies)) await assert.rejects(read(frames), lost, what);
    await assert.rejects(read([schema, part({}), last(3, 1)], 9, [last(2)]), lost);
    await assert.rejects(read([schema, part({}), last(3, 1)], 9, [part({})]), lost);
  });

  it('may be an error, which is thrown behind what has ended', async () => {
    const error = { code: 'DATA_CORRUPT', message: 'A file is damaged.', retryable: false } as const;
    await assert.rejects(
      read([schema, end(10, 0n), event({ kind: 'error', error }), last(99)]),
      /A file is damaged/,
    );
    await assert.rejects(read([event({ kind: 'error', error }), last(1)]), /A file is damaged/);
  });
});

function lost(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'EXECUTOR_LOST';
}

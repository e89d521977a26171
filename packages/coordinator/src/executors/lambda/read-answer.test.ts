import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { encapsulateHeader, splitIpcStream } from '@svc/flight/arrow';
import {
  type EventHeader,
  encodeEventHeader,
  encodeFrame,
  type InvocationSummary,
  type SpooledPart,
} from '@svc/fragment-fn';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
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
interface Arrow {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

const [schemaMessage] = messagesOf(1);
const schema = encodeFrame({ kind: 'schema', body: encapsulateHeader(schemaMessage.header) });
const batch = (split: number, rowCount: number, { header, body }: Arrow = messagesOf(rowCount)[1]) =>
  encodeFrame({
    kind: 'event',
    header: encodeEventHeader({ kind: 'message', split, messageKind: 'batch', rowCount }),
    arrowHeader: header,
    body,
  });
const end = (split: number, rowCount: bigint) => event({ kind: 'end', split, rowCount, statistics });
const event = (header: EventHeader) => encodeFrame({ kind: 'event', header: encodeEventHeader(header) });
const last = (frames: number, parts = 0) =>
  encodeFrame({ kind: 'end', header: json({ frames, parts, isColdStart: true, durationMs: 5 }) });
const json = (value: object) => Buffer.from(JSON.stringify(value));
const part = (place: Partial<SpooledPart>) =>
  encodeFrame({ kind: 'part', header: json({ part: 0, bytes: 1, sha256: '0'.repeat(64), ...place }) });

/** Of so many rows. */
function messagesOf(rowCount: number): readonly [Arrow, Arrow] {
  const ids = vectorFromArray(
    Array.from({ length: rowCount }, (_, id) => BigInt(id)),
    new Int64(),
  );
  const [first, second] = splitIpcStream(tableToIPC(new Table({ id: ids })));
  assert.ok(first !== undefined && second !== undefined);
  return [first, second];
}

/** What `read` was told last of an answer's end. */
let told: InvocationSummary | undefined;
const partBytes = 1000;

/** As if they came in pieces of so many bytes. */
async function read(
  frames: readonly Uint8Array[],
  pieceBytes = 7,
  spooled: readonly Uint8Array[] = [],
  events: AnswerEvent[] = [],
) {
  told = undefined;
  const bytes = Buffer.concat(frames);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const source = {
    executor: 'lambda svc-fragment',
    partBytes,
    chunks: chunks(),
    splits: [10, 20].map((id) => ({ id, scan: undefined as never })),
    async *readPart() {
      yield Buffer.concat(spooled);
    },
    onSummary: (summary: InvocationSummary) => {
      told = summary;
    },
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
      assert.deepEqual(Buffer.from(message.message.body), Buffer.from(messagesOf(2)[1].body));
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
      'a later split first': [schema, end(20, 0n), end(10, 0n), last(3)],
      'no rows, no schema': [last(0)],
      'two schemas': [schema, schema, end(10, 0n), end(20, 0n), last(4)],
      'fewer frames': [schema, end(10, 0n), end(20, 0n), last(4)],
      'a part that is not the next': [schema, part({ part: 1 }), last(2, 1)],
      'something behind its end': [...whole, end(20, 0n)],
    };
    for (const [what, frames] of Object.entries(lies)) await assert.rejects(read(frames), lost, what);
    await assert.rejects(read([schema, part({}), last(3, 1)], 9, [last(2)]), lost);
    await assert.rejects(read([schema, part({}), last(3, 1)], 9, [part({})]), lost);
  });

  it('is lost, by its name, where it is no Arrow, inline and in a part; nothing of that is passed on', async () => {
    const [, { header, body }] = messagesOf(2);
    const garbage: Readonly<Record<string, Arrow>> = {
      'a header of garbage': { header: Buffer.alloc(header.length, 0x5a), body },
      'no header': { header: new Uint8Array(0), body },
      'the header of a schema': { header: schemaMessage.header, body },
      'no body': { header, body: new Uint8Array(0) },
      'a cut body': { header, body: body.subarray(0, -8) },
      'another count of rows': messagesOf(3)[1],
    };
    const named = (error: unknown) => lost(error) && /Lost lambda svc-fragment: /.test(String(error));
    for (const [what, arrow] of Object.entries(garbage)) {
      const inline: AnswerEvent[] = [];
      const bad = [batch(10, 2, arrow), end(10, 2n)];
      await assert.rejects(read([schema, ...bad, end(20, 0n), last(4)], 100, [], inline), named, what);
      const spooled: AnswerEvent[] = [];
      await assert.rejects(read([schema, part({}), end(20, 0n), last(5, 1)], 100, bad, spooled), named, what);
      for (const events of [inline, spooled])
        assert.deepEqual(
          events.map(({ kind }) => kind),
          ['schema'],
          what,
        );
    }
    for (const bytes of [Buffer.alloc(64, 0xff), Buffer.alloc(4), encapsulateHeader(header)]) {
      const events: AnswerEvent[] = [];
      const frames = [encodeFrame({ kind: 'schema', body: bytes }), end(10, 0n), end(20, 0n), last(3)];
      await assert.rejects(read(frames, 100, [], events), named);
      assert.deepEqual(events, []);
    }
  });

  it('has a schema whose length is what it has, whatever is said in front of it', async () => {
    const lying = Buffer.from(encapsulateHeader(schemaMessage.header)).fill(0x7f, 0, 8);
    const frames = [encodeFrame({ kind: 'schema', body: lying }), end(10, 0n), end(20, 0n), last(3)];
    const [first] = await read(frames);
    assert.ok(first?.kind === 'schema');
    assert.deepEqual(Buffer.from(first.schema), encapsulateHeader(schemaMessage.header));
  });

  it('is not larger in a part than it was to be, but for one frame', async () => {
    const spooled = [batch(10, 1), end(10, 1n)];
    const said = async (bytes: number, held: readonly Uint8Array[]) =>
      await read([schema, part({ bytes }), end(20, 0n), last(3 + held.length, 1)], 100, held);
    await said(partBytes, spooled);
    await assert.rejects(said(partBytes + 1, spooled), lost);
    for (const bytes of [64 * 2 ** 20 + 1, 2 ** 40, Number.MAX_SAFE_INTEGER])
      await assert.rejects(said(bytes, spooled), lost);
    await said(partBytes + 1, [end(10, 0n)]);
  });

  it('ends with a summary that is told only where it can be so', async () => {
    const error = event({
      kind: 'error',
      error: { code: 'DATA_CORRUPT', message: 'A file is damaged.', retryable: false },
    });
    const spooled = [batch(10, 1), end(10, 1n)];
    const frames = [schema, part({}), end(20, 0n)];
    await read([...frames, last(5, 1)], 100, spooled);
    assert.equal(told?.parts, 1);
    for (const parts of [0, 2, 1e9, Number.MAX_SAFE_INTEGER]) {
      await assert.rejects(read([...frames, last(5, parts)], 100, spooled), lost);
      assert.equal(told, undefined);
    }
    await assert.rejects(read([...frames, last(5, 1), end(20, 0n)], 100, spooled), lost);
    assert.equal(told, undefined);
    await assert.rejects(read([schema, part({}), error, last(9, 0)], 100, spooled), lost);
    assert.equal(told, undefined);
    // What it has put, and could not name any more.
    await assert.rejects(read([schema, part({}), error, last(9, 2)], 100, spooled), /A file is damaged/);
    assert.equal((told as InvocationSummary | undefined)?.parts, 2);
  });

  it('may be an error, which is thrown behind what has ended', async () => {
    const error = { code: 'DATA_CORRUPT', message: 'A file is damaged.', retryable: false } as const;
    await assert.rejects(
      read([schema, end(10, 0n), event({ kind: 'error', error }), last(99)]),
      /A file is damaged/,
    );
    await assert.rejects(read([event({ kind: 'error', error }), last(1)]), /A file is damaged/);
    const own = (code: 'CANCELLED' | 'EXECUTOR_TIME_OVER' | 'SHUTTING_DOWN') =>
      read([event({ kind: 'error', error: { code, message: 'It stops.', retryable: true } }), last(1)]);
    await assert.rejects(own('CANCELLED'), lost);
    for (const code of ['EXECUTOR_TIME_OVER', 'SHUTTING_DOWN'] as const)
      await assert.rejects(own(code), { code });
  });
});

function lost(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'EXECUTOR_LOST';
}

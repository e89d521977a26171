import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { QueryError, silentLogger } from '@svc/base';
import type { EngineMessage } from '@svc/engine';
import { joinIpcStream } from '@svc/flight/arrow';
import type { InputRows } from '@svc/fragment-fn';
import { LateObjects } from '../spool/late-objects.js';
import type { Spool } from '../spool/spool.js';
import { Broadcast, type BroadcastRules } from './broadcast.js';

const never = new AbortController().signal;
/** An encapsulated message without a body, as far as anybody looks here. */
const schema = Buffer.from([0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);

function memorySpool(failing = false) {
  const objects = new Map<string, Uint8Array>();
  const late = new LateObjects();
  const written: string[] = [];
  const store = {
    async write(location: string, content: Uint8Array) {
      written.push(location);
      if (failing) throw new QueryError('STORAGE_ACCESS_DENIED', `denied: ${location}`);
      objects.set(location, content);
    },
    async delete(location: string) {
      objects.delete(location);
    },
  };
  const signer = {
    sign: async (method: string, location: string) => `${method} ${location}`,
  };
  const spool = { location: 's3://spool/here/', store, signer, late };
  return { objects, written, late, spool: spool as unknown as Spool };
}

/** Messages of so many bytes, each of which must be given back. */
async function* messagesOf(
  sizes: readonly number[],
  released: number[] = [],
  kind: EngineMessage['kind'] = 'batch',
): AsyncGenerator<EngineMessage, void, undefined> {
  for (const [index, size] of sizes.entries())
    yield {
      ...{ kind, header: new Uint8Array(8), body: new Uint8Array(size).fill(index), rowCount: 1 },
      release: () => released.push(index),
    };
}

function broadcastOf(rules: Partial<BroadcastRules>): Broadcast {
  const some = { maxBytes: 1e6, inlineBytes: 100, partBytes: 1000, spool: undefined, logger: silentLogger };
  return new Broadcast({ ...some, ...rules }, 'query-1');
}

function partsOf(rows: InputRows): Extract<InputRows, { readonly kind: 'parts' }>['parts'] {
  assert.equal(rows.kind, 'parts');
  return rows.kind === 'parts' ? rows.parts : [];
}

/** The stream of one part: its rows' bodies are of these sizes, and filled with their positions. */
function streamOf(bodies: readonly (readonly [position: number, size: number])[]): Buffer {
  const messages = bodies.map(([position, size]) => ({
    header: new Uint8Array(8),
    body: new Uint8Array(size).fill(position),
  }));
  return Buffer.concat([schema, joinIpcStream(messages)]);
}

describe('the rows of a stage for all fragments', () => {
  it('travel within each where they are few', async () => {
    const { objects, spool } = memorySpool();
    const broadcast = broadcastOf({ spool });
    await broadcast.fill('s1', schema, messagesOf([10, 20]), never);
    const rows = await broadcast.rows(never);
    assert.deepEqual(rows, {
      kind: 'bytes',
      stream: streamOf([
        [0, 10],
        [1, 20],
      ]),
    });
    assert.equal(objects.size, 0);
  });

  it('travel within each where there is no spool', async () => {
    const broadcast = broadcastOf({});
    await broadcast.fill('s1', schema, messagesOf([900, 900, 900]), never);
    const { kind } = await broadcast.rows(never);
    assert.equal(kind, 'bytes');
  });

  it('lie in the spool once, in parts that are streams of their own, and go', async () => {
    const { objects, spool } = memorySpool();
    const released: number[] = [];
    const broadcast = broadcastOf({ spool });
    await broadcast.fill('s1', schema, messagesOf([400, 400, 400, 2000, 10], released), never);
    const [first, second] = [partsOf(await broadcast.rows(never)), partsOf(await broadcast.rows(never))];
    assert.deepEqual(first, second);
    const expected = [
      streamOf([
        [0, 400],
        [1, 400],
      ]),
      streamOf([[2, 400]]),
      streamOf([[3, 2000]]),
      streamOf([[4, 10]]),
    ];
    assert.deepEqual([...objects.values()], expected);
    const locations = [...objects.keys()];
    assert.ok(locations.every((location) => location.startsWith('s3://spool/here/query-1/')));
    assert.deepEqual(
      first,
      expected.map((stream, index) => ({
        url: `GET ${locations[index]}`,
        bytes: stream.byteLength,
        sha256: createHash('sha256').update(stream).digest('hex'),
      })),
    );
    assert.deepEqual(released, [0, 1, 2, 3, 4]);
    await broadcast.remove();
    assert.equal(objects.size, 0);
  });

  it('stay one stream behind dictionaries, which all of them need', async () => {
    const { objects, spool } = memorySpool();
    const broadcast = broadcastOf({ spool });
    await broadcast.fill('s1', schema, messagesOf([900, 900, 900], [], 'dictionary'), never);
    assert.equal(partsOf(await broadcast.rows(never)).length, 1);
    assert.equal(objects.size, 1);
  });

  it('are refused where they are too many, and leave nothing', async () => {
    const { objects, spool } = memorySpool();
    const released: number[] = [];
    const broadcast = broadcastOf({ spool, maxBytes: 3000 });
    await assert.rejects(broadcast.fill('s1', schema, messagesOf([900, 900, 900, 900], released), never), {
      code: 'NOT_SUPPORTED',
    });
    assert.ok(objects.size > 0);
    await broadcast.remove();
    assert.equal(objects.size, 0);
    assert.deepEqual(released, [0, 1, 2, 3]);
  });

  it('say nothing of the spool where it does not take them', async () => {
    const { spool } = memorySpool(true);
    await assert.rejects(
      broadcastOf({ spool }).fill('s1', schema, messagesOf([900]), never),
      (error) =>
        error instanceof QueryError && error.code === 'STORAGE_ERROR' && !error.message.includes('denied'),
    );
  });

  it('are removed too where storage puts them behind their removal', async () => {
    const { objects, written, late, spool } = memorySpool(true);
    const broadcast = broadcastOf({ spool });
    await assert.rejects(broadcast.fill('s1', schema, messagesOf([900]), never), { code: 'STORAGE_ERROR' });
    await broadcast.remove();
    const [location = ''] = written;
    objects.set(location, schema);
    await late.close();
    assert.equal(objects.size, 0);
  });
});

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { QueryError, silentLogger } from '@svc/base';
import { ByteBudget, type ObjectStore, type ReadOptions } from '@svc/lake';
import type { Spool } from '../../spool/spool.js';
import { SpoolFolder } from './spool-folder.js';

const never = new AbortController().signal;
const MiB = 2 ** 20;
const partBytes = 3 * MiB + 5;
const content = randomBytes(partBytes);
const said = { part: 0, bytes: partBytes, sha256: createHash('sha256').update(content).digest('hex') };

/** In memory: each object is `content`, until it is said to be another one. */
function fakeSpool() {
  const told = {
    content,
    version: 'first',
    deleted: [] as string[],
    /** Lengths of the ranges that were asked for. */
    reads: [] as number[],
    /** Called before a range is answered. */
    onRead: async (_options: ReadOptions) => {},
  };
  const store: Partial<ObjectStore> = {
    head: async (location) => ({ location, sizeBytes: told.content.length, version: told.version }),
    async readRanges(_location, ranges, options = {}) {
      await told.onRead(options);
      if (options.version !== told.version) throw new QueryError('STORAGE_ERROR', 'It has changed.');
      told.reads.push(...ranges.map(({ start, end }) => end - start));
      return ranges.map(({ start, end }) => Buffer.from(told.content.subarray(start, end)));
    },
    async delete(location) {
      told.deleted.push(location.replace(/^.*\//, ''));
    },
  };
  const signer = { sign: async (_method: string, location: string) => `https://spool/${location}` };
  return { told, spool: { location: 's3://bucket/spool', store, signer } as unknown as Spool };
}

async function folderOf(spool: Spool, budget = new ByteBudget(1)): Promise<SpoolFolder> {
  const folder = new SpoolFolder(spool, 'query-1', budget);
  await folder.partUrls(3, never);
  return folder;
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

describe('a part in the spool', () => {
  it('is held whole while there is room, and in small pieces beside those that nobody takes', async () => {
    const { told, spool } = fakeSpool();
    const budget = new ByteBudget(2 * partBytes);
    const folders = await Promise.all(Array.from({ length: 20 }, () => folderOf(spool, budget)));
    // Each has its first piece, and a client that takes no more.
    const readers = folders.map((folder) => folder.readPart(said, never));
    const held: number[] = [];
    for (const reader of readers) {
      const first = await reader.next();
      assert.ok(!first.done);
      held.push(first.value.byteLength);
    }
    assert.deepEqual(held, [partBytes, partBytes, ...Array.from({ length: 18 }, () => MiB)]);
    // Nobody has to move for another query to go on.
    told.reads = [];
    assert.ok((await bytesOf((await folderOf(spool, budget)).readPart(said, never))).equals(content));
    assert.deepEqual(told.reads, [MiB, MiB, MiB, 5, MiB, MiB, MiB, 5]);
    // Room is given back by who ends early, and by who reads to the end.
    await readers[0]?.return();
    assert.equal((await readers[1]?.next())?.done, true);
    assert.ok(budget.tryAcquire(2 * partBytes));
  });

  it('is taken alone when it is larger than all the room', async () => {
    const { told, spool } = fakeSpool();
    const budget = new ByteBudget(10);
    const folder = await folderOf(spool, budget);
    assert.ok((await bytesOf(folder.readPart(said, never))).equals(content));
    assert.deepEqual(told.reads, [partBytes]);
    assert.ok(budget.tryAcquire(10));
  });

  for (const [how, usedBytes] of [
    ['whole', 0],
    ['in pieces', 1],
  ] as const)
    it(`is lost before anything of it is used where it is another one, read ${how}`, async () => {
      const { told, spool } = fakeSpool();
      const budget = new ByteBudget(partBytes);
      const folder = await folderOf(spool, budget);
      assert.ok(budget.tryAcquire(usedBytes));
      const isLost = async (part = said) =>
        await assert.rejects(folder.readPart(part, never).next(), { code: 'EXECUTOR_LOST' });
      await isLost({ ...said, part: 3 });
      await isLost({ ...said, bytes: partBytes - 1 });
      await isLost({ ...said, sha256: '0'.repeat(64) });
      told.onRead = async () => {
        told.version = 'second';
      };
      await isLost();
      const stop = new AbortController();
      told.onRead = async ({ signal }) => {
        stop.abort(new QueryError('CANCELLED', 'Enough.'));
        signal?.throwIfAborted();
      };
      await assert.rejects(folder.readPart(said, stop.signal).next(), /Enough/);
      budget.release(usedBytes);
      assert.ok(budget.tryAcquire(partBytes));
    });

  it('is lost where it changes behind its digest', async () => {
    const { told, spool } = fakeSpool();
    const budget = new ByteBudget(1);
    assert.ok(budget.tryAcquire(1));
    const reader = (await folderOf(spool, budget)).readPart(said, never);
    assert.ok(!(await reader.next()).done);
    told.version = 'second';
    told.content = randomBytes(partBytes);
    await assert.rejects(reader.next(), { code: 'EXECUTOR_LOST' });
  });
});

describe('what an invocation leaves in the spool', () => {
  it('is removed by the count of parts, of no more than there may be', async () => {
    const all = ['part-0', 'part-1', 'part-2'];
    for (const [parts, removed] of [
      [undefined, all],
      [2, all.slice(0, 2)],
      [0, []],
      [1e9, all],
      [Number.MAX_SAFE_INTEGER, all],
    ] as const) {
      const { told, spool } = fakeSpool();
      await (await folderOf(spool)).remove(parts, silentLogger);
      assert.deepEqual(told.deleted.sort(), removed);
    }
  });
});

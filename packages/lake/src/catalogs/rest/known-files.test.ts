import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { createMemoryStore } from '../../iceberg/testing/memory-store.js';
import { createKnownFiles } from './known-files.js';

const table = 's3://lake/orders';
const file = `${table}/data/a.parquet`;

/** A store of one table, and how often each of its files was asked for. */
function counted() {
  const memory = createMemoryStore();
  const heads: string[] = [];
  const head = async (location: string) => {
    heads.push(location);
    return await memory.head(location);
  };
  return { memory, store: { ...memory, scope: 'orders', head }, heads };
}

describe('what storage said of a file', () => {
  it('is asked for once by each client, below the table only', async () => {
    const { memory, store, heads } = counted();
    const elsewhere = 's3://lake/salaries/data/a.parquet';
    for (const each of [file, elsewhere]) await memory.write(each, new Uint8Array([1]));
    const known = createKnownFiles();
    const mine = known.ofClient();
    for (let load = 0; load < 3; load += 1) await mine(store, table).head(file);
    assert.deepEqual(heads, [file]);
    await known.ofClient()(store, table).head(file);
    assert.deepEqual(heads, [file, file]);
    for (let load = 0; load < 2; load += 1) await mine(store, table).head(elsewhere);
    assert.deepEqual(heads.slice(2), [elsewhere, elsewhere]);
  });

  it('may come with the end of the file, which nobody remembers', async () => {
    const { memory, store, heads } = counted();
    await memory.write(file, new Uint8Array([1, 2, 3]));
    const ended: string[] = [];
    const headWithTail = async (location: string) => {
      ended.push(location);
      return { info: await memory.head(location), tail: new Uint8Array([3]) };
    };
    const opened = createKnownFiles().ofClient()({ ...store, headWithTail }, table);
    const believed = { sizeBytes: 3, tailBytes: 1 };
    assert.deepEqual((await opened.headWithTail?.(file, believed))?.tail, new Uint8Array([3]));
    assert.equal((await opened.headWithTail?.(file, believed))?.tail, undefined);
    await opened.head(file);
    assert.deepEqual([ended, heads], [[file], []]);
  });

  it('is forgotten when the file is written, removed, or cannot be read', async () => {
    const { memory, store, heads } = counted();
    await memory.write(file, new Uint8Array([1]));
    const opened = createKnownFiles().ofClient()(
      {
        ...store,
        read: () => Promise.reject(new QueryError('STORAGE_ERROR', `${file} has changed.`)),
      },
      table,
    );
    const isAskedAgain = async () => {
      const before = heads.length;
      await opened.head(file).catch(() => undefined);
      return heads.length > before;
    };
    assert.ok(await isAskedAgain());
    assert.ok(!(await isAskedAgain()));
    await assert.rejects(opened.read(file));
    assert.ok(await isAskedAgain());
    await opened.write(file, new Uint8Array([2]));
    assert.ok(await isAskedAgain());
    await opened.delete(file);
    assert.ok(await isAskedAgain());
  });

  it('stays when only the catalog has no credentials for reading it', async () => {
    const { memory, store, heads } = counted();
    await memory.write(file, new Uint8Array([1]));
    const read = () => Promise.reject(new QueryError('CATALOG_ERROR', 'The catalog is down.'));
    const opened = createKnownFiles().ofClient()({ ...store, read }, table);
    await opened.head(file);
    await assert.rejects(opened.read(file));
    await opened.head(file);
    assert.deepEqual(heads, [file]);
  });

  it('does not stand in for another version', async () => {
    const { memory, store, heads } = counted();
    await memory.write(file, new Uint8Array([1]));
    const opened = createKnownFiles().ofClient()(store, table);
    const { version } = await opened.head(file);
    await opened.head(file, { version });
    assert.equal(heads.length, 1);
    await opened.head(file, { version: 'older' }).catch(() => undefined);
    assert.equal(heads.length, 2);
  });
});

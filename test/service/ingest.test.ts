/** Bulk ingest: rows of a client that become rows of a table, by CommandStatementIngest. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { splitIpcStream } from '@svc/flight';
import {
  type DataType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  Float32,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampNanosecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/until.js';

let service: TestService;
before(async () => {
  service = await startService();
  const client = await service.client();
  await client.update('CREATE SCHEMA sales');
});
after(async () => await service[Symbol.asyncDispose]());

type Columns = Readonly<Record<string, readonly [type: DataType, values: readonly unknown[]]>>;

function messagesOf(columns: Columns) {
  const vectors = Object.entries(columns).map(
    ([name, [type, values]]) => [name, vectorFromArray(values, type)] as const,
  );
  return splitIpcStream(tableToIPC(new Table(Object.fromEntries(vectors)), 'stream'));
}

/** A schema message and `count` batches of the given rows each: `id` counts up, `text` is the same everywhere. */
function* batches(count: number, rowCount: number, text = 'some text') {
  const fields = [new Field('id', new Int64(), false), new Field('text', new Utf8(), true)];
  const schema = new Schema(fields);
  for (let batch = 0; batch < count; batch++) {
    const ids = Array.from({ length: rowCount }, (_, index) => BigInt(batch * rowCount + index));
    const texts = ids.map(() => text);
    const children = [vectorFromArray(ids, new Int64()), vectorFromArray(texts, new Utf8())].map(
      (vector) => vector.data[0] ?? makeData({ type: vector.type }),
    );
    const data = makeData({ type: new Struct(fields), length: rowCount, nullCount: 0, children });
    const [head, ...rest] = splitIpcStream(tableToIPC(new Table([new RecordBatch(schema, data)]), 'stream'));
    if (batch === 0 && head !== undefined) yield head;
    yield* rest;
  }
}

async function filesOf(table: string): Promise<{ readonly data: number; readonly snapshots: number }> {
  const names = async (folder: string) =>
    await readdir(join(service.catalogPath, ...table.split('.'), folder), { recursive: true }).catch(
      () => [],
    );
  const data = (await names('data')).filter((name) => /\.(parquet|tmp)$/.test(name)).length;
  return { data, snapshots: (await names('metadata')).filter((name) => name.startsWith('snap-')).length };
}

const create = { schema: 'sales', ifNotExists: 'create', ifExists: 'fail' } as const;
const replace = { schema: 'sales', ifNotExists: 'create', ifExists: 'replace' } as const;
const append = { schema: 'sales', ifNotExists: 'fail', ifExists: 'append' } as const;

describe('an ingest', () => {
  it('creates a table with the columns of the rows, and appends to it by name', async () => {
    const client = await service.client();
    const both = { ...create, table: 'notes', ifExists: 'append' } as const;
    const first = messagesOf({ id: [new Int64(), [1n, 2n]], text: [new LargeUtf8(), ['one', null]] });
    assert.equal(await client.ingest(both, first), 2n);
    const second = messagesOf({ TEXT: [new Utf8(), ['three']], id: [new Int32(), [3]] });
    assert.equal(await client.ingest(both, second), 1n);
    assert.deepEqual(await rows(client, 'SELECT id, text FROM sales.notes ORDER BY id'), [
      [1n, 'one'],
      [2n, null],
      [3n, 'three'],
    ]);
    assert.deepEqual(await filesOf('sales.notes'), { data: 2, snapshots: 2 });
  });

  it('takes types of Arrow for those of Iceberg, and what is not nullable for NOT NULL', async () => {
    const client = await service.client();
    assert.equal(await client.ingest({ ...create, table: 'counted' }, batches(1, 3)), 3n);
    const types = messagesOf({
      small: [new Int8(), [1]],
      single: [new Float32(), [0.5]],
      price: [new Decimal(2, 10), [Uint32Array.of(125, 0, 0, 0)]],
      moment: [new TimestampMicrosecond(), [0]],
      category: [new Dictionary(new Utf8(), new Int32()), ['a']],
      list: [new List(new Field('item', new Int32(), true)), [[1, 2]]],
      bytes: [new FixedSizeBinary(2), [Uint8Array.of(1, 2)]],
    });
    assert.equal(await client.ingest({ ...create, table: 'typed' }, types), 1n);
    assert.deepEqual(
      (await rows(client, 'DESCRIBE sales.typed')).map(([name, type]) => [name, type]),
      [
        ['small', 'INTEGER'],
        ['single', 'FLOAT'],
        ['price', 'DECIMAL(10,2)'],
        ['moment', 'TIMESTAMP'],
        ['category', 'VARCHAR'],
        ['list', 'INTEGER[]'],
        ['bytes', 'BLOB'],
      ],
    );
    assert.deepEqual(
      (await rows(client, 'DESCRIBE sales.counted')).map((row) => row[2]),
      ['NO', 'YES'],
    );
    assert.deepEqual(await rows(client, 'SELECT small, category, price::VARCHAR, list[2] FROM sales.typed'), [
      [1, 'a', '1.25', 2],
    ]);
  });

  it('replaces a table in one snapshot, or makes it, and rows of before stay in its history', async () => {
    const client = await service.client();
    const target = { ...replace, table: 'again' };
    assert.equal(await client.ingest(target, batches(1, 3)), 3n);
    assert.equal(await value(client, 'SELECT count(*) FROM sales.again'), 3n);
    const other = messagesOf({ text: [new Int64(), [7n]], more: [new Utf8(), ['x']] });
    assert.equal(await client.ingest(target, other), 1n);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.again'), [[7n, 'x']]);
    assert.deepEqual(await filesOf('sales.again'), { data: 2, snapshots: 2 });
    assert.equal(await client.ingest(target, messagesOf({ a: [new Int64(), []] })), 0n);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.again'), []);
  });

  it('of ten thousand small batches is one snapshot, and no rows make an empty table', async () => {
    const client = await service.client();
    assert.equal(await client.ingest({ ...create, table: 'tiny' }, batches(10_000, 2)), 20_000n);
    assert.equal(await value(client, 'SELECT count(DISTINCT id) FROM sales.tiny'), 20_000n);
    assert.deepEqual(await filesOf('sales.tiny'), { data: 1, snapshots: 1 });
    const nothing = messagesOf({ a: [new Int64(), []] });
    assert.equal(await client.ingest({ ...create, table: 'nothing' }, nothing), 0n);
    assert.deepEqual(await rows(client, 'SELECT * FROM sales.nothing'), []);
  });

  it('goes to partitions like an INSERT', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.parts (id BIGINT, text VARCHAR) PARTITIONED BY (bucket(4, id))');
    assert.equal(await client.ingest({ ...append, table: 'parts' }, batches(4, 100)), 400n);
    assert.equal(await value(client, 'SELECT count(DISTINCT id) FROM sales.parts'), 400n);
    assert.deepEqual(await filesOf('sales.parts'), { data: 4, snapshots: 1 });
  });

  it('is refused by name where it cannot be done, and leaves nothing behind', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.strict (id INT NOT NULL, day DATE)');
    const id = [new Int64(), [1n]] as const;
    const cases: readonly [Parameters<typeof client.ingest>[0], Columns, string, RegExp][] = [
      [{ ...create, table: 'strict' }, { id }, 'ALREADY_EXISTS', /sales\.strict/],
      [{ ...append, table: 'absent' }, { id }, 'TABLE_NOT_FOUND', /absent/],
      [{ ...create, table: 'bad', schema: 'nowhere' }, { id }, 'SCHEMA_NOT_FOUND', /nowhere/],
      [{ ...create, table: 'bad', catalog: 'elsewhere' }, { id }, 'CATALOG_NOT_FOUND', /elsewhere/],
      [{ ...create, table: 'bad', temporary: true }, { id }, 'NOT_SUPPORTED', /"bad".*temporary/],
      [{ ...replace, table: 'strict' }, {}, 'INVALID_ARGUMENT', /columns/],
      [{ ...replace, table: 'strict' }, { id: [new TimestampNanosecond(), [1]] }, 'NOT_SUPPORTED', /"id"/],
      [{ ...replace, table: 'absent', ifNotExists: 'fail' }, { id }, 'TABLE_NOT_FOUND', /absent/],
      [{ ...append, table: 'strict' }, { id, nope: id }, 'BINDING_ERROR', /"nope"/],
      [{ ...append, table: 'strict' }, { day: [new Utf8(), [null]] }, 'BINDING_ERROR', /"id"/],
      [{ ...append, table: 'strict' }, { id, ID: id }, 'BINDING_ERROR', /"ID" is twice/],
      [{ ...append, table: 'strict' }, { id: [new Int64(), [null]] }, 'EVALUATION_ERROR', /"id"/],
      [
        { ...append, table: 'strict' },
        { id: [new Int64(), [2n ** 40n]] },
        'EVALUATION_ERROR',
        /"id"|1099511627776/,
      ],
      [{ ...append, table: 'strict' }, { id, day: [new Int64(), [1n]] }, 'EVALUATION_ERROR', /"day"/],
      [{ ...create, table: 'bad' }, {}, 'INVALID_ARGUMENT', /columns/],
      [
        { ...create, table: 'bad' },
        { t: [new TimestampNanosecond(), [1]] },
        'NOT_SUPPORTED',
        /"t".*Timestamp<NANOSECOND>/,
      ],
    ];
    for (const [target, columns, code, message] of cases)
      await assert.rejects(
        client.ingest(target, messagesOf(columns)),
        { code, message },
        JSON.stringify(target),
      );
    assert.deepEqual(await filesOf('sales.strict'), { data: 0, snapshots: 0 });
    assert.deepEqual(await filesOf('sales.bad'), { data: 0, snapshots: 0 });
    await assert.rejects(rows(client, 'DESCRIBE sales.bad'), { code: 'TABLE_NOT_FOUND' });
  });

  it('that is cut off, or is no Arrow, changes nothing and frees what it held', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.cut (id BIGINT, text VARCHAR)');
    for (const target of [
      { ...append, table: 'cut' },
      { ...replace, table: 'cut' },
      { ...create, table: 'cut_new' },
    ]) {
      const abort = new AbortController();
      const endless = async function* () {
        for (const message of batches(20, 1000)) yield message;
        await until('the ingest to run', async () => (await service.metric('svc_active_queries')) !== 0);
        abort.abort();
      };
      await assert.rejects(client.ingest(target, endless(), { signal: abort.signal }));
    }
    const [schema, batch] = batches(1, 1000);
    assert.ok(schema && batch);
    const damaged = { header: batch.header, body: batch.body.subarray(0, 100) };
    for (const mode of [append, replace])
      await assert.rejects(client.ingest({ ...mode, table: 'cut' }, [schema, batch, damaged]), {
        code: 'INVALID_ARGUMENT',
      });
    await assert.rejects(client.ingest({ ...append, table: 'cut' }, [schema, batch, schema]), {
      code: 'INVALID_ARGUMENT',
      message: /only record batches/,
    });
    await assert.rejects(client.ingest({ ...append, table: 'cut' }, [batch]), {
      code: 'INVALID_ARGUMENT',
      message: /schema/,
    });
    await until(
      'the log of three cut ingests',
      () => service.logRecords().filter((each) => each.error_code === 'CANCELLED').length >= 3,
    );
    assert.equal(await value(client, 'SELECT count(*) FROM sales.cut'), 0n);
    assert.deepEqual(await filesOf('sales.cut'), { data: 0, snapshots: 0 });
    assert.deepEqual(await filesOf('sales.cut_new'), { data: 0, snapshots: 0 });
    await assert.rejects(rows(client, 'DESCRIBE sales.cut_new'), { code: 'TABLE_NOT_FOUND' });
  });

  it('takes batches of more than 16 MiB', async () => {
    const client = await service.client();
    assert.equal(
      await client.ingest({ ...create, table: 'wide' }, batches(3, 200, 'x'.repeat(100_000))),
      600n,
    );
    assert.equal(await value(client, 'SELECT sum(length(text))::BIGINT FROM sales.wide'), 60_000_000n);
  });
});

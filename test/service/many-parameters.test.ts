/** One statement with many rows of parameters: executemany of DB-API, executeBatch of JDBC. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import {
  type DataType,
  DateDay,
  Int64,
  RecordBatchReader,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
before(async () => {
  service = await startService({ tables: standardTables });
});
after(async () => await service[Symbol.asyncDispose]());

type Column = readonly [type: DataType, values: readonly unknown[]];

/** Columns named by their position, as ADBC binds them; all of them in one batch. */
function bound(...columns: readonly Column[]): Uint8Array {
  const vectors = columns.map(([type, values], index) => [String(index), vectorFromArray(values, type)]);
  return tableToIPC(new Table(Object.fromEntries(vectors)), 'stream');
}

async function inserted(client: FlightClient, sql: string, parameters: Uint8Array): Promise<bigint> {
  const { handle } = await client.prepare(sql);
  try {
    return await client.updatePrepared(handle, parameters);
  } finally {
    await client.closePrepared(handle);
  }
}

async function snapshots(table: string): Promise<number> {
  const names = await readdir(join(service.catalogPath, ...table.split('.'), 'metadata'));
  return names.filter((name) => name.startsWith('snap-')).length;
}

describe('an INSERT with many rows of parameters', () => {
  it('is one statement and one snapshot', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.many (id BIGINT NOT NULL, text VARCHAR, moment TIMESTAMPTZ)');
    const ids = Array.from({ length: 5000 }, (_, index) => BigInt(index));
    const texts = ids.map((id) => (id % 7n === 0n ? null : `n${id}`));
    const parameters = bound([new Int64(), ids], [new Utf8(), texts]);
    const sql = 'INSERT INTO sales.many (id, text) VALUES (?, ?);';
    assert.equal(await inserted(client, sql, parameters), 5000n);
    assert.equal(await snapshots('sales.many'), 1);
    assert.deepEqual(
      await rows(client, 'SELECT count(*), count(DISTINCT id), count(text), max(id) FROM sales.many'),
      [[5000n, 5000n, 4285n, 4999n]],
    );
  });

  it('computes with them, casts them to the columns, and may take several rows of each', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.computed (id INT, text VARCHAR, day DATE)');
    const parameters = bound([new Int64(), [1n, 2n]], [new Utf8(), ['2024-01-02', null]]);
    const sql = "INSERT INTO sales.computed VALUES ($1, 'a' || $1, $2), ($1 + 10, upper('b'), NULL)";
    assert.equal(await inserted(client, sql, parameters), 4n);
    assert.deepEqual(await rows(client, 'SELECT id, text, day::VARCHAR FROM sales.computed ORDER BY id'), [
      [1, 'a1', '2024-01-02'],
      [2, 'a2', null],
      [11, 'B', null],
      [12, 'B', null],
    ]);
  });

  it('changes nothing when one row cannot be had', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.atomic (id INT NOT NULL, day DATE)');
    const insert = 'INSERT INTO sales.atomic VALUES (?, ?)';
    const days = [new Utf8(), ['2024-01-01', '2024-01-02', '2024-01-03']] as const;
    await assert.rejects(inserted(client, insert, bound([new Int64(), [1n, null, 3n]], days)), {
      code: 'EVALUATION_ERROR',
      message: /"id"/,
    });
    await assert.rejects(inserted(client, insert, bound([new Int64(), [1n, 2n ** 40n, 3n]], days)), {
      code: 'EVALUATION_ERROR',
      message: /1099511627776/,
    });
    await assert.rejects(inserted(client, insert, bound([new Int64(), []], [new Utf8(), []])), {
      code: 'INVALID_PARAMETER',
    });
    await assert.rejects(inserted(client, insert, bound([new Int64(), [1n, 2n]])), {
      code: 'INVALID_PARAMETER',
      message: /2 parameters; 1/,
    });
    assert.equal(await value(client, 'SELECT count(*) FROM sales.atomic'), 0n);
  });

  it('is refused where rows of tables hang on them, and for other statements', async () => {
    const client = await service.client();
    await client.update('CREATE TABLE sales.copies (id BIGINT)');
    const parameters = bound([new Int64(), [1n, 2n]]);
    await assert.rejects(
      inserted(client, 'INSERT INTO sales.copies SELECT id FROM sales.orders WHERE id = ?', parameters),
      { code: 'NOT_SUPPORTED', message: /INSERT … VALUES/ },
    );
    await assert.rejects(inserted(client, 'CREATE TABLE sales.copied AS SELECT ? AS id', parameters), {
      code: 'NOT_SUPPORTED',
      message: /INSERT/,
    });
    assert.equal(
      await inserted(
        client,
        'INSERT INTO sales.copies SELECT id FROM sales.orders WHERE id = ?',
        bound([new Int64(), [1n]]),
      ),
      1n,
    );
  });

  it('is prepared with the types of the columns', async () => {
    const client = await service.client();
    await client.update(
      'CREATE TABLE sales.typed (id BIGINT, text VARCHAR, moment TIMESTAMP, day DATE, price DECIMAL(10, 2))',
    );
    const typesOf = async (sql: string) => {
      const { parameterSchema } = await client.prepare(sql);
      const { fields } = RecordBatchReader.from(parameterSchema).open().schema;
      return fields.map(({ type }) => String(type));
    };
    assert.deepEqual(
      await typesOf('INSERT INTO sales.typed VALUES (?, ?, ?, ?, ?)'),
      [new Int64(), new Utf8(), new TimestampMicrosecond(), new DateDay(), 'Decimal[10e+2]'].map(String),
    );
    assert.deepEqual(await typesOf('INSERT INTO sales.typed (text, id) VALUES ($1, $2)'), ['Utf8', 'Int64']);
    await assert.rejects(client.prepare('INSERT INTO sales.absent VALUES (?)'), { code: 'TABLE_NOT_FOUND' });
  });
});

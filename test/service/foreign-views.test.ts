/** Views that other engines made: read where they mean the same here, refused by name elsewhere. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import {
  createFileStore,
  createFileSystemCatalog,
  createMetadataFiles,
  type ViewDefinition,
} from '@svc/lake';
import { rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService();
  client = await service.client();
  await client.update('CREATE SCHEMA s');
  await client.update(
    "CREATE TABLE s.t AS SELECT * FROM (VALUES (1, 'a', 1.50), (2, NULL, 2.25), (3, 'c', NULL)) v(id, name, price)",
  );
});
after(async () => await service[Symbol.asyncDispose]());

const long = { kind: 'long' } as const;
const text = { kind: 'string' } as const;
const answer = (sql: string) => rows(client, sql);

async function createView(
  name: string,
  sql: Readonly<Record<string, string>>,
  columns: ViewDefinition['columns'],
) {
  const catalog = createFileSystemCatalog({
    root: service.catalogPath,
    store: createFileStore(),
    files: createMetadataFiles(0),
  });
  await catalog.createView(
    { namespace: ['s'], name },
    {
      columns,
      representations: Object.entries(sql).map(([dialect, query]) => ({ dialect, sql: query })),
      defaultNamespace: ['s'],
    },
  );
}

describe('a view of another dialect', () => {
  it('is read with the names and types that were recorded', async () => {
    await createView('trinos', { trino: 'SELECT id AS x, sum(id) AS y, count(*) AS z FROM t GROUP BY id' }, [
      { name: 'ID', type: { kind: 'int' } },
      { name: 'total', type: long },
      { name: 'rows', type: long },
    ]);
    assert.deepEqual(await answer('SELECT * FROM s.trinos ORDER BY "ID" LIMIT 1'), [[1, 1n, 1n]]);
    assert.deepEqual(
      (await answer('DESCRIBE SELECT * FROM s.trinos')).map(([name, type]) => [name, type]),
      [
        ['ID', 'INTEGER'],
        ['total', 'BIGINT'],
        ['rows', 'BIGINT'],
      ],
    );
    await createView('sparks', { SPARK: "SELECT `t`.`name` FROM `t` WHERE name LIKE 'a%'" }, [
      { name: 'name', type: text },
    ]);
    assert.deepEqual(await answer('FROM s.sparks'), [['a']]);
  });

  it('answers the columns that it had, whatever its tables have got since', async () => {
    await createView('stars', { trino: 'SELECT * FROM t' }, [
      { name: 'name', type: text },
      { name: 'id', type: long },
    ]);
    assert.deepEqual(await answer('SELECT * FROM s.stars ORDER BY id LIMIT 1'), [['a', 1n]]);
    await createView('gone', { trino: 'SELECT * FROM t' }, [{ name: 'other', type: text }]);
    await assert.rejects(answer('SELECT * FROM s.gone'), { code: 'BINDING_ERROR', message: /other/ });
  });

  it('is read in the dialect that says the same here', async () => {
    const columns = [{ name: 'n', type: long }];
    const both = { trino: 'SELECT id / 2 AS n FROM t', spark: 'SELECT count(*) AS n FROM t' };
    await createView('either', both, columns);
    assert.deepEqual(await answer('FROM s.either'), [[3n]]);
    await createView('ours', { ...both, duckdb: 'SELECT 7 AS n' }, columns);
    assert.deepEqual(await answer('FROM s.ours'), [[7]]);
  });

  it('is refused by name where it may say something else', async () => {
    const refused: Readonly<
      Record<string, readonly [sql: Readonly<Record<string, string>>, message: RegExp]>
    > = {
      divided: [
        { trino: 'SELECT id / 2 AS n FROM t' },
        /The view lake\.s\.divided is written for trino .* the division \//,
      ],
      sorted: [{ spark: 'SELECT id AS n FROM t ORDER BY id' }, /written for spark .* ORDER BY without NULLS/],
      torn: [{ trino: 'SELECT id AS n FROM t WHERE' }, /written for trino .* Syntax error/],
      loaded: [
        { trino: "SELECT count(*) AS n FROM read_text('/etc/passwd')" },
        /written for trino .* read_text/,
      ],
      wide: [{ trino: 'SELECT id AS n, id AS m FROM t' }, /answers 2 columns, but 1 were recorded/],
      hive: [{ hive: 'SELECT 1' }, /written for hive; the dialects duckdb, trino, spark are read/],
    };
    for (const [name, [sql, message]] of Object.entries(refused)) {
      await createView(name, sql, [{ name: 'n', type: long }]);
      await assert.rejects(answer(`SELECT * FROM s.${name}`), { code: 'NOT_SUPPORTED', message }, name);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TableFilter } from '@svc/flight';
import { tableFromIPC } from 'apache-arrow';
import { directoryOf, fakeCatalog } from '../../test-support/fake-catalog.js';
import { listTables } from './tables.js';

const catalogs = directoryOf({
  lake: fakeCatalog({ sales: ['orders', 'Items'], a_b: ['t'], axb: ['t'] }),
  archive: fakeCatalog({ sales: ['old'] }),
});

describe('GetTables', () => {
  it('lists every table in order of catalog, schema and name', async () => {
    assert.deepEqual(await list({}), [
      'archive.sales.old',
      'lake.a_b.t',
      'lake.axb.t',
      'lake.sales.Items',
      'lake.sales.orders',
    ]);
  });

  it('filters by catalog exactly, by schema and table with patterns', async () => {
    assert.deepEqual(await list({ catalog: 'archive' }), ['archive.sales.old']);
    assert.deepEqual(await list({ catalog: 'arch%' }), []);
    assert.deepEqual(await list({ catalog: '' }), [], 'what has no catalog');
    assert.deepEqual(await list({ schemaPattern: 'a_b' }), ['lake.a_b.t', 'lake.axb.t']);
    assert.deepEqual(await list({ schemaPattern: 'a\\_b' }), ['lake.a_b.t']);
    assert.deepEqual(await list({ tablePattern: 'o%' }), ['archive.sales.old', 'lake.sales.orders']);
    assert.deepEqual(await list({ tableTypes: ['VIEW'] }), []);
    assert.equal((await list({ tableTypes: ['VIEW', 'TABLE'] })).length, 5);
    assert.equal((await list({ tableTypes: [''] })).length, 5, 'a type without a name is none');
  });

  it('still lists a table that cannot be loaded, without columns, when schemas are asked for', async () => {
    const rows = await rowsOf({ tablePattern: 'orders', includeSchema: true });
    const [schema] = rows.map((row) => row.arrowSchema);
    assert.ok(schema !== undefined);
    assert.deepEqual(tableFromIPC(schema).schema.fields, []);
  });

  it('asks for no more than is read', async () => {
    let listed = 0;
    const counting = {
      ...fakeCatalog({ a: ['t'], b: ['t'] }),
      listRelations: async () => {
        listed += 1;
        return [{ identifier: { namespace: ['a'], name: 't' }, kind: 'table' as const }];
      },
    };
    for await (const _row of listTables(directoryOf({ lake: counting }), everything, options)) break;
    assert.equal(listed, 1);
  });
});

const options = { timeZone: 'UTC', signal: new AbortController().signal };
const everything: TableFilter = {
  catalog: undefined,
  schemaPattern: undefined,
  tablePattern: undefined,
  tableTypes: [],
  includeSchema: false,
};

async function rowsOf(filter: Partial<TableFilter>) {
  const rows = [];
  for await (const row of listTables(catalogs, { ...everything, ...filter }, options)) rows.push(row);
  return rows;
}

async function list(filter: Partial<TableFilter>): Promise<readonly string[]> {
  return (await rowsOf(filter)).map(({ catalog, schema, table }) => `${catalog}.${schema}.${table}`);
}

/** A data file that Iceberg Java wrote as Avro, with every type: the engine reads what is staged of it as its values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createFileStore, stageScan } from '@svc/lake';
import { withEngine } from './engine-scope.js';

const location = fileURLToPath(new URL('../../../packages/lake/testdata/avro/types.avro', import.meta.url));
const rowCount = 20;

/** Columns by name, with a text of their values. */
const columns = {
  id: 'id::VARCHAR',
  time: 'time::VARCHAR',
  ns: 'epoch_ns(ns)::VARCHAR',
  nstz: 'epoch_us(nstz)::VARCHAR',
  tz: 'epoch_us(tz)::VARCHAR',
  uuid: 'uuid::VARCHAR',
  fixed: 'hex(fixed)',
  binary: 'hex("binary")',
  wide: 'wide::VARCHAR',
  flag: 'flag::VARCHAR',
  list: 'list::VARCHAR',
  map: 'map::VARCHAR',
  pairs: 'pairs::VARCHAR',
};

const types = {
  ...{ id: 'BIGINT', time: 'TIME', ns: 'TIMESTAMP_NS', nstz: 'TIMESTAMP WITH TIME ZONE' },
  ...{ tz: 'TIMESTAMP WITH TIME ZONE', uuid: 'UUID', fixed: 'BLOB', binary: 'BLOB', wide: 'DECIMAL(38,10)' },
  ...{ flag: 'BOOLEAN', list: 'INTEGER[]', map: 'MAP(VARCHAR, BIGINT)', pairs: 'MAP(INTEGER, VARCHAR)' },
};

test('every type of an Avro file of a table reaches the engine as it was written', () =>
  withEngine(async ({ lease, cache, footers, text }) => {
    const store = createFileStore();
    const { sizeBytes, version } = await store.head(location);
    const file = {
      ...{ location, sizeBytes, version, avroRows: rowCount, recordCount: rowCount, selectedBytes: 0 },
      ...{ rowGroups: [0], columnNames: Object.keys(columns).sort() },
    };
    const groups = [{ sources: [], files: [file] }];
    const staged = await stageScan({ groups }, { store, cache, footers, directory: lease.inputDirectory });
    const table = `read_parquet('${staged.groups[0]?.paths[0]}')`;
    const names = Object.keys(columns).map((name) => `typeof("${name}")`);
    assert.equal(
      await text(`SELECT concat_ws('|', ${names.join()}) FROM ${table} LIMIT 1`),
      Object.values(types).join('|'),
    );
    const texts = Object.values(columns).map((value) => `coalesce(${value}, 'NULL')`);
    const rows = `SELECT id, concat_ws('|', ${texts.join()}) AS line FROM ${table}`;
    const found = await text(`SELECT string_agg(line, chr(10) ORDER BY id) FROM (${rows})`);
    assert.deepEqual(
      found.split('\n'),
      Array.from({ length: rowCount }, (_unused, id) => lineOf(id)),
    );
  }));

/** What WriteShapes.java makes of a row: of every seventh only the id. */
function lineOf(id: number): string {
  if (id % 7 === 0) return [id, ...Array<string>(Object.keys(columns).length - 1).fill('NULL')].join('|');
  const micros = BigInt(Date.UTC(2024, 1, 28, 23 + id)) * 1000n + 123_456n;
  const uuid = BigInt.asUintN(64, BigInt(id % 2 === 0 ? id : -id))
    .toString(16)
    .padStart(16, '0');
  const byte = id.toString(16).padStart(2, '0').toUpperCase();
  return [
    ...[id, `01:${String(2 + id).padStart(2, '0')}:03.123456`, micros * 1000n + 789n, micros, micros],
    `${uuid.slice(0, 8)}-${uuid.slice(8, 12)}-${uuid.slice(12)}-0000-${id.toString(16).padStart(12, '0')}`,
    ...[`010203${byte}`, `C8${byte}`, `1234567890123456789012345678.${String(id).padStart(10, '0')}`],
    ...[id % 2 === 0, `[${id}, NULL, 3]`, `{k=${id}}`, `{${id}=v${id}}`],
  ].join('|');
}

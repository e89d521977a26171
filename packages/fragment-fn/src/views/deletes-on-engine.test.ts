/** Views over files with row-level deletes, tried on the engine against what the specification says. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ColumnSource, IcebergType, NestedField } from '@svc/lake';
import { openTestPool, type TestPool } from '../test-support/test-pool.js';
import { sessionStatements } from './session-sql.js';
import type { StagedDeletes, StagedGroup } from './staged-group.js';
import { scanViewSql } from './view-sql.js';

const long: IcebergType = { kind: 'long' };
const text: IcebergType = { kind: 'string' };
const table = { catalog: 'lake', schema: 's', table: 't' };
const columns: readonly NestedField[] = [field('id', long), field('name', text)];
const sources = columns.map(({ name, type }) => columnOf(name, type));

let engine: TestPool;
before(async () => {
  engine = await openTestPool();
});
after(async () => await engine[Symbol.asyncDispose]());

interface File {
  /** SQL of its rows. */
  readonly rows: string;
  readonly location?: string;
  readonly sequence: number;
  readonly partition?: number;
  readonly hasRowDelta?: boolean;
}

interface Deletes extends Partial<Pick<StagedDeletes, 'kind' | 'isScoped' | 'keys'>> {
  readonly files: readonly File[];
}

const id = field('id', long);
const positions = [field('file_path', text), field('pos', long)];

/** The rows that are left, in order: `id` and `name` as text, or what `sql` answers over `t`. */
async function left(
  files: readonly File[],
  deletes: readonly Deletes[],
  sql = "SELECT id || coalesce(name, '') AS v FROM t",
): Promise<readonly string[]> {
  const lease = await engine.pool.lease({ owner: 'ada', lane: 'query' });
  try {
    let count = 0;
    const groupOf = async (group: readonly File[], of: readonly ColumnSource[]): Promise<StagedGroup> => {
      const paths = group.map(() => join(lease.inputDirectory, `${count++}.parquet`));
      await lease.execute(
        group.map(({ rows }, index) => `COPY (${rows}) TO '${paths[index]}' (FORMAT parquet)`),
      );
      return {
        sources: of,
        paths,
        locations: group.map(({ location = '' }) => location),
        origins: group.map(({ sequence, partition = 0 }) => ({
          sequenceNumber: BigInt(sequence),
          partition,
          firstRowId: 100n,
        })),
        hasRowDelta: group.some(({ hasRowDelta }) => hasRowDelta === true),
      };
    };
    const staged: StagedDeletes[] = [];
    for (const { kind = 'equality', isScoped = false, keys = [id], files: listed } of deletes) {
      const of = keys.map(({ name, type }) => columnOf(name, type));
      staged.push({ kind, isScoped, keys, groups: [await groupOf(listed, of)] });
    }
    const applied = staged.map(({ kind, keys }, set) => ({
      set,
      sources: kind === 'positions' ? [] : keys.map(({ name, type }) => columnOf(name, type)),
    }));
    // Each file is a branch of its own, so that the lists are used more than once.
    const groups: StagedGroup[] = [];
    for (const file of files) groups.push({ ...(await groupOf([file], sources)), deletes: applied });
    const session = { tables: [table], defaultCatalog: 'lake', defaultSchema: 's', settings: {} };
    await lease.execute([...sessionStatements(session), scanViewSql(table, columns, groups, staged)]);
    const answer = await lease.queryText(
      `SELECT coalesce(string_agg(v::VARCHAR, ' ' ORDER BY v), '') FROM (${sql})`,
      [],
    );
    return answer === '' ? [] : answer.split(' ');
  } finally {
    await lease.release();
  }
}

const rowsOf = (...ids: readonly number[]) =>
  `SELECT unnest([${ids.join(', ')}])::BIGINT AS id, NULL::VARCHAR AS name`;
const listed = (location: string, ...at: readonly number[]) =>
  `SELECT '${location}' AS file_path, unnest([${at.join(', ')}])::BIGINT AS pos`;

test('equality deletes reach older files only', async () => {
  const files = [
    { rows: rowsOf(1, 2, 3), sequence: 1 },
    { rows: rowsOf(1, 2, 3), sequence: 2 },
    { rows: rowsOf(1, 2, 3), sequence: 3 },
  ];
  const deletes = [
    {
      files: [
        { rows: rowsOf(1), sequence: 2 },
        { rows: rowsOf(2), sequence: 3 },
      ],
    },
  ];
  assert.deepEqual(await left(files, deletes), ['1', '1', '2', '3', '3', '3']);
});

test('equality deletes of a partition stay in it, those of the whole table do not', async () => {
  const files = [
    { rows: rowsOf(1, 2), sequence: 1, partition: 0 },
    { rows: rowsOf(1, 2), sequence: 1, partition: 1 },
  ];
  const deletes = { files: [{ rows: rowsOf(1), sequence: 2, partition: 1 }] };
  assert.deepEqual(await left(files, [{ ...deletes, isScoped: true }]), ['1', '2', '2']);
  assert.deepEqual(await left(files, [deletes]), ['2', '2']);
});

test('equality deletes compare all their columns, and NULL is equal to NULL', async () => {
  const rows = "SELECT unnest([1, 1, 2])::BIGINT AS id, unnest([NULL, 'x', NULL]) AS name";
  const deleted = 'SELECT 1::BIGINT AS id, NULL::VARCHAR AS name';
  const name = field('name', text);
  const deletes = { keys: [id, name], files: [{ rows: deleted, sequence: 2 }] };
  assert.deepEqual(await left([{ rows, sequence: 1 }], [deletes]), ['1x', '2']);
});

test('a struct that is NULL is not equal to one with NULL in it', async () => {
  const rows =
    "SELECT 1::BIGINT AS id, 'a' AS name, {'k': 5::BIGINT} AS s UNION ALL SELECT 2, 'b', NULL UNION ALL SELECT 3, 'c', {'k': NULL}";
  const key = field('s', { kind: 'struct', fields: [field('k', long)] });
  const without = (struct: string) =>
    left(
      [{ rows, sequence: 1 }],
      [{ keys: [key], files: [{ rows: `SELECT ${struct}::STRUCT(k BIGINT) AS s`, sequence: 2 }] }],
    );
  assert.deepEqual(await without("{'k': 5}"), ['2b', '3c']);
  assert.deepEqual(await without('NULL'), ['1a', '3c']);
  assert.deepEqual(await without("{'k': NULL}"), ['1a', '2b']);
});

test('positions are those of the file that is named, if it is not newer', async () => {
  const files = [
    { rows: rowsOf(10, 11, 12), location: 'a', sequence: 1 },
    { rows: rowsOf(20, 21, 22), location: 'b', sequence: 2 },
    { rows: rowsOf(30, 31, 32), location: 'c', sequence: 3 },
  ];
  const rows = ['a', 'b', 'c', 'of another table'].map((name) => listed(name, 0, 2)).join(' UNION ALL ');
  const deletes = [{ kind: 'positions' as const, keys: positions, files: [{ rows, sequence: 2 }] }];
  assert.deepEqual(await left(files, deletes), ['11', '21', '30', '31', '32']);
});

test('positions in a part of a file are those of the whole', async () => {
  const rows =
    'SELECT unnest([100, 101, 102])::BIGINT AS id, NULL::VARCHAR AS name, 100::BIGINT AS __row_delta';
  const files = [{ rows, location: 'a', sequence: 1, hasRowDelta: true }];
  const deletes = [
    {
      kind: 'positions' as const,
      keys: positions,
      files: [{ rows: listed('a', 1, 101), sequence: 1 }],
    },
  ];
  assert.deepEqual(await left(files, deletes), ['100', '102']);
});

test('several delete sets and files work together', async () => {
  const files = [
    { rows: rowsOf(1, 2, 3, 4, 5), location: 'a', sequence: 1 },
    { rows: rowsOf(3, 4, 5, 6, 7), location: 'b', sequence: 3 },
  ];
  const name = field('name', text);
  const deletes = [
    {
      kind: 'positions' as const,
      keys: positions,
      files: [
        { rows: listed('a', 0), sequence: 2 },
        { rows: listed('b', 4), sequence: 4 },
      ],
    },
    { files: [{ rows: rowsOf(3), sequence: 2 }] },
    { keys: [id, name], files: [{ rows: rowsOf(5), sequence: 4 }] },
  ];
  assert.deepEqual(await left(files, deletes), ['2', '3', '4', '4', '6']);
});

test('nothing of a statement is computed of a row that is deleted by any means', async () => {
  const rows = 'SELECT range AS id, NULL::VARCHAR AS name FROM range(3000)';
  const files = [{ rows, location: 'a', sequence: 1 }];
  const byPosition = {
    kind: 'positions' as const,
    keys: positions,
    files: [{ rows: "SELECT 'a' AS file_path, range * 3 AS pos FROM range(1000)", sequence: 1 }],
  };
  const byValue = {
    files: [{ rows: 'SELECT range * 3 AS id FROM range(1000)', sequence: 2 }],
  };
  const sql =
    "SELECT count(*) AS v FROM t WHERE 1 / (id % 3) >= 0 AND CASE WHEN id % 3 = 0 THEN error('seen') ELSE true END AND id < 300";
  for (const deletes of [[byPosition], [byValue], [byPosition, byValue]])
    assert.deepEqual(await left(files, deletes, sql), ['200']);
});

test('row ids are those of the rows, or follow from the position in the whole file', async () => {
  const lease = await engine.pool.lease({ owner: 'ada', lane: 'query' });
  try {
    const path = join(lease.inputDirectory, 'rows.parquet');
    const rows = 'SELECT unnest([NULL, 7, NULL])::BIGINT AS id, 10::BIGINT AS __row_delta';
    const lineage = [field('_row_id', long), field('_last_updated_sequence_number', long)];
    const group: StagedGroup = {
      sources: [
        { kind: 'row-id', stored: columnOf('id', long), type: long },
        { kind: 'sequence-number', stored: undefined, type: long },
      ],
      ...{ paths: [path], locations: ['a'], hasRowDelta: true },
      origins: [{ sequenceNumber: 4n, partition: 0, firstRowId: 1000n }],
    };
    const session = { tables: [table], defaultCatalog: 'lake', defaultSchema: 's', settings: {} };
    await lease.execute([
      `COPY (${rows}) TO '${path}' (FORMAT parquet)`,
      ...sessionStatements(session),
      scanViewSql(table, lineage, [group]),
    ]);
    const sql =
      "SELECT string_agg(_row_id || ':' || _last_updated_sequence_number, ' ' ORDER BY _row_id) FROM t";
    assert.equal(await lease.queryText(sql, []), '7:4 1010:4 1012:4');
  } finally {
    await lease.release();
  }
});

function field(name: string, type: IcebergType): NestedField {
  return { id: 1, name, required: false, type };
}

function columnOf(name: string, type: IcebergType): ColumnSource {
  return { kind: 'column', name, isExactType: true, type };
}

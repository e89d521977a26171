import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataFile, TypedPartitionSpec } from '../manifests/data-file.js';
import type { DeletionVector, EqualityDeleteFile, PositionDeleteFile } from '../manifests/delete-file.js';
import { queryError } from '../testing/table-fixture.js';
import { assignDeletes } from './assign-deletes.js';

const unpartitioned: TypedPartitionSpec = { spec: { specId: 0, fields: [] }, types: [] };
const byInt = (specId: number, transform = 'identity'): TypedPartitionSpec => ({
  spec: { specId, fields: [{ fieldId: 1000, sourceIds: [1], name: 'p', transform }] },
  types: [{ kind: 'int' }],
});

function common(location: string, sequence: number) {
  return {
    ...{ location, format: 'PARQUET', sizeBytes: 1, recordCount: 1 },
    ...{ partitionSpec: unpartitioned, partition: [], sequenceNumber: BigInt(sequence) },
  };
}
const data = (location: string, sequence: number, overrides: Partial<DataFile> = {}): DataFile => ({
  ...common(location, sequence),
  ...{ splitOffsets: null, firstRowId: null },
  ...overrides,
});
const positions = (
  location: string,
  sequence: number,
  overrides: Partial<PositionDeleteFile> = {},
): PositionDeleteFile => ({
  ...common(location, sequence),
  ...{ kind: 'positions', referencedDataFile: null, lowerLocation: null, upperLocation: null },
  ...overrides,
});
const equality = (
  location: string,
  sequence: number,
  overrides: Partial<EqualityDeleteFile> = {},
): EqualityDeleteFile => ({
  ...common(location, sequence),
  kind: 'equality',
  equalityIds: [1],
  ...overrides,
});
const vector = (of: string, sequence: number, location = 'v.puffin'): DeletionVector => ({
  ...common(location, sequence),
  ...{ kind: 'vector', referencedDataFile: of, start: 4, end: 44 },
});

async function assign(...[files, deletes]: [readonly DataFile[], Parameters<typeof assignDeletes>[1]]) {
  const { sets, files: assigned } = await assignDeletes(files, deletes, undefined);
  return {
    /** Delete files by set. */
    sets: sets.map((set) => set.files.map((file) => file.location)),
    /** Sets by data file. */
    files: assigned.map((file) => file.sets),
    vectors: assigned.map((file) => file.vector?.location),
  };
}

test('positions are of files that are not newer, values of files that are older', async () => {
  const files = [data('a', 1), data('b', 2), data('c', 3)];
  assert.deepEqual((await assign(files, [positions('p', 2)])).files, [[0], [0], []]);
  assert.deepEqual((await assign(files, [equality('e', 2)])).files, [[0], [], []]);
  assert.deepEqual((await assign(files, [equality('e', 1)])).sets, []);
});

test('equality deletes are of their partition, or of the whole table without one', async () => {
  const files = [
    data('a', 1, { partitionSpec: byInt(1), partition: [5] }),
    data('b', 1, { partitionSpec: byInt(1), partition: [null] }),
    data('c', 1, { partitionSpec: byInt(2), partition: [5] }),
    data('d', 1),
  ];
  const inPartition = (partition: readonly (number | null)[], transform?: string) =>
    equality('e', 2, { partitionSpec: byInt(1, transform), partition });
  assert.deepEqual((await assign(files, [inPartition([5])])).files, [[0], [], [], []]);
  assert.deepEqual((await assign(files, [inPartition([null])])).files, [[], [0], [], []]);
  assert.deepEqual((await assign(files, [inPartition([null], 'void')])).files, [[0], [0], [0], [0]]);
  assert.deepEqual((await assign(files, [equality('e', 2)])).files, [[0], [0], [0], [0]]);
  assert.deepEqual((await assign(files, [positions('p', 2)])).files, [[], [], [], [0]]);
});

test('sets are by the compared columns, and have the files that are needed', async () => {
  const deletes = [
    equality('e', 5),
    equality('old', 1),
    equality('f', 5, { equalityIds: [1, 2] }),
    equality('g', 4),
  ];
  const { sets, files } = await assign([data('a', 2), data('b', 4)], deletes);
  assert.deepEqual(sets, [['e', 'g'], ['f']]);
  assert.deepEqual(files, [
    [0, 1],
    [0, 1],
  ]);
});

test('bounds of locations tell which data files a list is about', async () => {
  const files = ['t/d', 't/b', 't/a', 't/c'].map((location) => data(location, 1));
  const bounded = (lower: string, upper: string) =>
    positions(`${lower}-${upper}`, 2, {
      lowerLocation: Buffer.from(lower),
      upperLocation: Buffer.from(upper),
    });
  assert.deepEqual((await assign(files, [bounded('t/b', 't/c')])).files, [[], [0], [], [0]]);
  assert.deepEqual((await assign(files, [bounded('t/a', 't/bzz')])).files, [[], [0], [0], []]);
  assert.deepEqual((await assign(files, [bounded('u', 'z')])).sets, []);
  const { sets, files: touched } = await assign(files, [
    positions('of d', 2, { referencedDataFile: 't/d' }),
    positions('of none', 2, { referencedDataFile: 't/' }),
  ]);
  assert.deepEqual([sets, touched], [[['of d']], [[0], [], [], []]]);
});

test('a deletion vector stands for all lists of positions, not for values', async () => {
  const deletes = [positions('p', 2), equality('e', 3), vector('a', 3), vector('b', 0, 'older')];
  const { files, vectors, sets } = await assign([data('a', 1), data('b', 1)], deletes);
  assert.deepEqual(vectors, ['v.puffin', undefined]);
  assert.deepEqual(sets, [['p'], ['e']]);
  assert.deepEqual(files, [[1], [0, 1]]);
  await assert.rejects(
    assign([data('a', 1)], [vector('a', 2), vector('a', 3, 'other')]),
    queryError('DATA_CORRUPT', /a has two deletion vectors, in v\.puffin and other/),
  );
});

test('partitions that cannot be told apart are refused, naming a file', async () => {
  const unknown = { partitionSpec: byInt(1, 'zorder'), partition: [undefined] };
  await assert.rejects(
    assign([data('a', 1, unknown)], [equality('e', 2, unknown)]),
    queryError('UNSUPPORTED_TABLE_FEATURE', /The file e is in a partition by a transform that is not known/),
  );
  assert.deepEqual((await assign([data('a', 1, unknown)], [])).files, [[]]);
});

test('an abort ends the assignment of many files', async () => {
  const files = Array.from({ length: 1000 }, (_, index) => data(`t/${index}`, 1));
  const deletes = Array.from({ length: 200 }, (_, index) => positions(`d/${index}`, 2));
  await assert.rejects(assignDeletes(files, deletes, AbortSignal.abort()), { code: 'CANCELLED' });
});

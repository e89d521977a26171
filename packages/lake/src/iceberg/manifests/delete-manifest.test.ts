import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAvroFile } from '../avro/container-reader.js';
import { always, type BoundFilter } from '../expressions/bind-filter.js';
import { encodeBinaryValue } from '../spec/binary-value.js';
import { type FixtureDelete, writeDeleteManifest } from '../testing/delete-manifest.js';
import { queryError } from '../testing/table-fixture.js';
import { type DeleteFile, filePathId } from './delete-file.js';
import { createDeleteManifestReader } from './delete-manifest.js';
import { namedManifest } from './manifest-list.js';

const unpartitioned = { spec: { specId: 0, fields: [] }, types: [] };

async function read(
  deletes: readonly FixtureDelete[],
  filter: BoundFilter = always,
): Promise<readonly DeleteFile[]> {
  const avro = await openAvroFile(writeDeleteManifest(unpartitioned, deletes), 'm.avro');
  const fieldIds = new Set([1, 2]);
  const reader = createDeleteManifestReader(unpartitioned, {
    filter,
    fieldIds,
    partitionMightMatch: () => true,
  });
  return await reader(avro, { ...namedManifest('m.avro'), content: 'deletes', sequenceNumber: 7n });
}

const equals = (fieldId: number, value: number): BoundFilter => ({
  kind: 'column',
  fieldId,
  type: { kind: 'int' },
  predicate: { kind: 'compare', operator: '=', value },
});
const bounds = (lower: number, upper: number) => {
  const of = (value: number) => new Map([1, 2].map((id) => [id, encodeBinaryValue({ kind: 'int' }, value)]));
  return { lowerBounds: of(lower), upperBounds: of(upper) };
};

test('lists of positions have the data file or the bounds of those that they are about', async () => {
  const path = Buffer.from('s3://t/a');
  const [only, range] = await read([
    { location: 'd', content: 1, referencedDataFile: 's3://t/a', sequenceNumber: 3n },
    { location: 'e', content: 1, lowerBounds: new Map([[filePathId, path]]) },
  ]);
  assert.ok(only?.kind === 'positions' && range?.kind === 'positions');
  assert.deepEqual(
    [only.referencedDataFile, only.lowerLocation, only.sequenceNumber],
    ['s3://t/a', null, 3n],
  );
  assert.deepEqual(Buffer.from(range.lowerLocation ?? []), path);
  assert.equal(range.sequenceNumber, 7n);
});

test('a filter leaves out what lists other values, if it is of the compared columns', async () => {
  const file = { location: 'd', content: 2, equalityIds: [1], ...bounds(10, 20) };
  const kept = async (filter: BoundFilter) => (await read([file], filter)).length;
  assert.deepEqual(
    [await kept(equals(1, 15)), await kept(equals(1, 21)), await kept(equals(2, 21))],
    [1, 0, 1],
  );
  assert.equal(await kept({ kind: 'or', filters: [equals(1, 21), equals(2, 21)] }), 1);
  assert.equal(await kept({ kind: 'and', filters: [equals(1, 21), equals(2, 15)] }), 0);
});

test('deletion vectors have their data file and their place', async () => {
  const vector = {
    location: 'v.puffin',
    content: 1,
    format: 'puffin',
    referencedDataFile: 'a',
    contentOffset: 4,
    contentBytes: 40,
  };
  const [found] = await read([vector]);
  assert.ok(found?.kind === 'vector');
  assert.deepEqual([found.referencedDataFile, found.start, found.end], ['a', 4, 44]);
  for (const wrong of [{ contentBytes: 997 }, { contentOffset: -1 }])
    await assert.rejects(
      read([{ ...vector, ...wrong }]),
      queryError('DATA_CORRUPT', /The delete file v\.puffin is said to have a deletion vector in bytes/),
    );
  const { referencedDataFile: _, ...unplaced } = vector;
  await assert.rejects(read([unplaced]), queryError('DATA_CORRUPT', /v\.puffin .* without its data file/));
});

test('a delete file that is none, or compares nothing, is named', async () => {
  await assert.rejects(
    read([{ location: 'd', content: 0 }]),
    queryError('DATA_CORRUPT', /The delete file d has the content 0/),
  );
  await assert.rejects(
    read([{ location: 'd', content: 2 }]),
    queryError('DATA_CORRUPT', /d does not say which columns it compares/),
  );
});

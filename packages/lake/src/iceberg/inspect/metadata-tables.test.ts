import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetadataFiles } from '../cache/metadata-files.js';
import { encodeBinaryValue } from '../spec/binary-value.js';
import { printTableMetadata } from '../spec/parse-table-metadata.js';
import type { NestedField } from '../spec/types.js';
import { fixtureSnapshotId, fixtureTable, plainFile, queryError, tableOf } from '../testing/table-fixture.js';
import type { Cell } from './metadata-table.js';
import { openMetadataTable, splitMetadataName } from './open-metadata-table.js';

const id: NestedField = { id: 1, name: 'id', required: false, type: { kind: 'long' } };
const day: NestedField = { id: 2, name: 'day', required: false, type: { kind: 'date' } };
const byDay = {
  spec: { specId: 0, fields: [{ sourceIds: [2], fieldId: 1000, name: 'day', transform: 'day' }] },
  types: [{ kind: 'date' } as const],
};

/** A file of 10 rows whose ids lie between the bounds; without bounds the file does not tell. */
function fileOf(
  name: string,
  ids: readonly [bigint, bigint] | undefined,
  nulls: number | undefined,
  partition = 0,
) {
  const bounds = (value: bigint | undefined) =>
    new Map(value === undefined ? [] : [[1, encodeBinaryValue({ kind: 'long' }, value)]]);
  const { metrics } = plainFile(name);
  return plainFile(name, {
    partition: [partition],
    metrics: {
      ...metrics,
      valueCounts: new Map([[1, 10]]),
      nullValueCounts: new Map(nulls === undefined ? [] : [[1, nulls]]),
      lowerBounds: bounds(ids?.[0]),
      upperBounds: bounds(ids?.[1]),
    },
  });
}

const table = (...files: readonly ReturnType<typeof fileOf>[]) =>
  fixtureTable([id, day], byDay, [{ files }, { files: [] }]);

/** The columns that are wanted, and those that are to be shown of each row. */
async function rowsOf(
  loaded: ReturnType<typeof table>,
  kind: string,
  wanted: readonly string[],
  shown: readonly string[] = wanted,
): Promise<readonly (readonly (Cell | undefined)[])[]> {
  const opened = openMetadataTable(loaded, kind, { kind: 'current' }, 'lake.s.t');
  const places = shown.map((name) => opened.fields.findIndex((field) => field.name === name));
  const rows: (readonly (Cell | undefined)[])[] = [];
  const options = { files: createMetadataFiles(2 ** 20), signal: new AbortController().signal };
  for await (const piece of opened.rows((column) => wanted.includes(column), options))
    for (const row of piece) rows.push(places.map((place) => row[place]));
  return rows;
}

describe('metadata tables', () => {
  it('refuse to take more partitions and columns together than there is memory for, by name', async () => {
    const fields = Array.from({ length: 20_000 }, (_none, index) => ({
      ...id,
      id: index + 3,
      name: `c${index}`,
    }));
    const files = Array.from({ length: 50 }, (_none, index) => fileOf(`f${index}`, [1n, 2n], 0, index));
    const wide = fixtureTable([id, day, ...fields], byDay, [{ files }]);
    await assert.rejects(rowsOf(wide, 'partitions', ['data']), {
      code: 'RESULT_TOO_LARGE',
      message: /more than 49 partitions with 20002 columns each/,
    });
    assert.equal((await rowsOf(wide, 'partitions', ['file_count'])).length, 50);
  });

  it('take the bounds of files together, and know nothing where one file does not', async () => {
    const data = async (...files: readonly ReturnType<typeof fileOf>[]) => {
      const rows = await rowsOf(table(...files), 'partitions', ['file_count', 'data']);
      return rows.map(([count, columns]) => [count, Array.isArray(columns) ? columns[0] : columns]);
    };
    assert.deepEqual(await data(fileOf('a', [5n, 9n], 0), fileOf('b', [-3n, 7n], 2)), [
      [2, [-3n, 9n, 2, null]],
    ]);
    assert.deepEqual(await data(fileOf('a', [5n, 9n], 0), fileOf('b', undefined, 10)), [
      [2, [5n, 9n, 10, null]],
    ]);
    assert.deepEqual(await data(fileOf('a', [5n, 9n], 0), fileOf('b', undefined, 1)), [
      [2, [null, null, 1, null]],
    ]);
    assert.deepEqual(await data(fileOf('a', undefined, undefined)), [[1, null]]);
    assert.deepEqual(await data(fileOf('a', [1n, 1n], 0, 5), fileOf('b', [2n, 2n], 0, 6)), [
      [1, [1n, 1n, 0, null]],
      [1, [2n, 2n, 0, null]],
    ]);
  });

  it('decode of the files only what is asked for', async () => {
    const loaded = table(fileOf('a', [5n, 9n], 0, 19_000));
    assert.deepEqual(
      await rowsOf(loaded, 'files', ['file_path', 'partition'], ['file_path', 'partition', 'lower_bounds']),
      [['a', [19_000], null]],
    );
    const [all] = await rowsOf(loaded, 'files', ['upper_bounds', 'readable_metrics']);
    assert.deepEqual(all?.[0], new Map([[1, '9']]));
    assert.deepEqual(JSON.parse(String(all?.[1])).id, {
      column_size: null,
      value_count: 10,
      null_value_count: 0,
      nan_value_count: null,
      lower_bound: 5,
      upper_bound: 9,
    });
  });

  it('name a manifest that is cut short or missing', async () => {
    const loaded = table(fileOf('a', [5n, 9n], 0));
    const manifest = loaded.store.objects.get('mem/metadata/m0.avro') ?? Buffer.alloc(0);
    loaded.store.objects.set('mem/metadata/m0.avro', manifest.subarray(0, manifest.length - 20));
    await assert.rejects(
      rowsOf(loaded, 'files', ['content']),
      queryError('DATA_CORRUPT', /mem\/metadata\/m0\.avro/),
    );
    loaded.store.objects.delete('mem/metadata/m0.avro');
    await assert.rejects(
      rowsOf(loaded, 'files', ['content']),
      queryError('DATA_FILE_MISSING', /mem\/metadata\/m0\.avro/),
    );
    assert.equal((await rowsOf(loaded, 'manifests', ['path'])).length, 2);
  });

  it('end where snapshots are one another’s parents', async () => {
    const { metadata, store } = table(fileOf('a', [5n, 9n], 0));
    const text = printTableMetadata(metadata).replace(
      /("snapshot-id":\d+,)("sequence-number")/,
      `$1"parent-snapshot-id":${fixtureSnapshotId},$2`,
    );
    assert.deepEqual(await rowsOf(tableOf(text, store), 'history', ['parent_id', 'is_current_ancestor']), [
      [fixtureSnapshotId, true],
    ]);
  });

  it('are asked for by the last dollar of a name', () => {
    assert.deepEqual(splitMetadataName('a$b$files'), { table: 'a$b', kind: 'files' });
    assert.equal(splitMetadataName('files'), undefined);
    assert.equal(splitMetadataName('$files'), undefined);
  });
});

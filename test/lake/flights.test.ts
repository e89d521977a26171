import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  createFileStore,
  createFileSystemCatalog,
  createMetadataFiles,
  inspectParquet,
  planScan,
  registerParquetTable,
  stageScan,
} from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import { withEngine } from './engine-scope.js';

const location = fileURLToPath(
  new URL('../../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url),
);

/** Microseconds since 1970 as an engine literal. */
const at = (time: string) => ({ type: 'TIMESTAMP', value: BigInt(Date.parse(`${time}Z`)) * 1000n });

const oneWeek: ScanRequest = {
  columns: [['date'], ['delay']],
  filters: [
    { kind: 'compare', column: ['date'], operator: '>=', literal: at('2001-02-05T00:00') },
    { kind: 'compare', column: ['date'], operator: '<', literal: at('2001-02-12T00:00') },
  ],
};

test('the metrics of the sample flights are those that the engine counts', () =>
  withEngine(async ({ lease, text }) => {
    const { fields, metrics, idsAreInFile } = await inspectParquet(createFileStore(), location);
    assert.equal(idsAreInFile, false);
    assert.equal(metrics.recordCount, 3_000_000);
    assert.equal(metrics.splitOffsets.length, 11);
    await copyInto(lease.inputDirectory);
    for (const { id, name } of fields) {
      const [low, high] = [metrics.lowerBounds.get(id), metrics.upperBounds.get(id)].map(decode(name));
      const value = name === 'date' ? `epoch_us(date)` : name;
      const expected = await text(
        `SELECT (count(*) - count(${name}), min(${value}), max(${value}))::VARCHAR FROM read_parquet('${join(lease.inputDirectory, 'flights.parquet')}')`,
      );
      assert.equal(`(${metrics.nullValueCounts.get(id)}, ${low}, ${high})`, expected, name);
    }
  }));

test('a week of the sample flights takes one row group and two columns of it', () =>
  withEngine(async ({ folder, lease, cache, footers, text }) => {
    const identifier = { namespace: ['samples'], name: 'flights' };
    const store = createFileStore();
    await registerParquetTable({ root: folder, identifier, file: await inspectParquet(store, location) });
    const manifests = createMetadataFiles(1 << 24);
    const table = await createFileSystemCatalog({ root: folder, store, files: manifests }).loadTable(
      identifier,
    );
    const scan = await planScan(table, { kind: 'current' }, oneWeek, {
      tableName: 'lake.samples.flights',
      manifests,
      footers,
    });
    assert.deepEqual(
      [scan.counts.rowGroupsTotal, scan.counts.rowGroupsPlanned, scan.counts.rowGroupsPrunedByStatistics],
      [11, 1, 10],
    );
    const options = { store, cache, footers, directory: lease.inputDirectory };
    const staged = await stageScan(scan, options);
    assert.ok(staged.bytesStaged < 500_000, `${staged.bytesStaged} bytes staged`);
    assert.equal((await stageScan(scan, options)).bytesFetched, 0);
    await copyInto(lease.inputDirectory);
    const count = (path: string) =>
      text(
        `SELECT (count(*), sum(delay))::VARCHAR FROM read_parquet('${path}') WHERE date >= TIMESTAMP '2001-02-05' AND date < TIMESTAMP '2001-02-12'`,
      );
    assert.equal(
      await count(staged.groups[0]?.paths[0] ?? ''),
      await count(join(lease.inputDirectory, 'flights.parquet')),
    );
  }));

async function copyInto(directory: string): Promise<void> {
  await copyFile(location, join(directory, 'flights.parquet'));
}

function decode(name: string): (bytes: Uint8Array | undefined) => string {
  return (bytes = new Uint8Array()) =>
    name === 'origin' || name === 'destination'
      ? Buffer.from(bytes).toString('utf8')
      : String(Buffer.from(bytes).readBigInt64LE());
}

/** Small Iceberg tables made by the test: the engine writes Parquet, the lake writes metadata around it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@svc/base';
import { createHostPool, type EngineLease } from '@svc/engine';
import { createFileStore, inspectParquet, registerParquetTable } from '@svc/lake';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '@svc/sql';

/** `schema.table` → the query whose rows it has. */
export type TableQueries = Readonly<Record<string, string>>;

/** The tables that most tests read. `orders` has ten row groups by id, `items` two. */
export const standardTables: TableQueries = {
  'sales.orders': `SELECT i::BIGINT AS id, ['north', 'south', 'east'][i % 3 + 1] AS region,
      (i / 100.0)::DECIMAL(12, 2) AS amount, DATE '2024-01-01' + (i % 365)::INTEGER AS ordered
    FROM range(20480) r(i)`,
  'sales.items': `SELECT i::BIGINT AS order_id, i % 7 AS quantity, md5(i::VARCHAR) AS note FROM range(4096) r(i)`,
};

const rowGroupRows = 2048;

/** Writes and registers the tables below `root`; answers the location of each. */
export async function makeTables(root: string, tables: TableQueries): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-tables-'));
  const limits = { memoryBytes: 512 * 2 ** 20, threads: 1, tempDirectoryBytes: 2 ** 30 };
  const lane = { hosts: 1, spareHosts: 0, limits };
  const pool = createHostPool({ folder, query: lane, small: lane, log: silentLogger });
  const locations = new Map<string, string>();
  try {
    const lease = await pool.lease({ owner: 'test', lane: 'query' });
    for (const [name, sql] of Object.entries(tables))
      locations.set(name, await makeTable(lease, root, name, sql));
    await lease.release();
    return locations;
  } finally {
    await pool.destroy();
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeTable(lease: EngineLease, root: string, name: string, sql: string): Promise<string> {
  const [schema = '', table = ''] = name.split('.');
  const path = join(lease.inputDirectory, `${table}.parquet`);
  await lease.execute([`COPY (${sql}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE ${rowGroupRows})`]);
  const file = await inspectParquet(createFileStore(), path);
  const identifier = { namespace: [schema], name: table };
  return (await registerParquetTable({ root, identifier, file })).location;
}

/**
 * Commits what another table has now as this table's next snapshot, columns included: its files replace the ones
 * before, which the earlier snapshot still has.
 */
export async function commitSnapshotOf(location: string, other: string): Promise<void> {
  const [metadata, next] = [await readMetadata(location), await readMetadata(other)];
  const snapshots = [metadata, next].flatMap((each) => arrayOf(member(each, 'snapshots')));
  const current = member(next, 'current-snapshot-id');
  const refs = { main: { 'snapshot-id': current, type: 'branch' } };
  // Format 2 tells the columns of the current snapshot by the current schema.
  const committed = { ...next, snapshots, refs, 'table-uuid': member(metadata, 'table-uuid') };
  await writeFile(join(location, 'metadata', 'v2.metadata.json'), stringifyJson(committed));
  await writeFile(join(location, 'metadata', 'version-hint.text'), '2');
}

async function readMetadata(location: string): Promise<JsonObject> {
  const value = parseJson(await readFile(join(location, 'metadata', 'v1.metadata.json'), 'utf8'));
  if (!isJsonObject(value)) throw new TypeError(`${location} has no table metadata`);
  return value;
}

function member(object: JsonObject, name: string): JsonValue {
  return object[name] ?? null;
}

function arrayOf(value: JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

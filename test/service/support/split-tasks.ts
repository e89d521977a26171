/** Tasks over the data file of a table that the test made. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type FragmentTask, fragmentProtocolVersion, type SplitRequest } from '@svc/fragment-fn';
import {
  createFileStore,
  createFooterCache,
  type ObjectStore,
  planParquetFile,
  type TableScan,
} from '@svc/lake';

export interface OrdersTaskOptions {
  readonly sql?: string;
  readonly owner?: string;
  /** Row groups of each split. */
  readonly splits?: readonly (readonly number[])[];
  readonly store?: ObjectStore;
}

const columns = [
  { id: 1, name: 'id', required: false, type: { kind: 'long' } },
  { id: 2, name: 'region', required: false, type: { kind: 'string' } },
] as const;

/** `standardTables['sales.orders']` lies at `location`; its ten row groups are split in three. */
export async function ordersTask(location: string, options: OrdersTaskOptions = {}): Promise<FragmentTask> {
  const store = options.store ?? createFileStore();
  const [name = ''] = (await readdir(join(location, 'data'))).filter((file) => file.endsWith('.parquet'));
  const info = await store.head(join(location, 'data', name));
  const file = await planParquetFile(
    info,
    { columns: columns.map((column) => [column.name]), filters: [] } as never,
    { store, footers: createFooterCache({ maxBytes: 2 ** 20 }) },
  );
  const scanOf = (rowGroups: readonly number[]): TableScan => ({
    tableName: 'lake.sales.orders',
    tableUuid: 'test',
    snapshotId: undefined,
    columns,
    groups:
      rowGroups.length === 0
        ? []
        : [
            {
              sources: columns.map((column) => ({
                kind: 'column',
                name: column.name,
                isExactType: true,
                type: column.type,
              })),
              files: [{ ...file, rowGroups, isPart: true }],
            },
          ],
    counts: {
      manifestsTotal: 0,
      manifestsRead: 0,
      filesTotal: 1,
      filesPlanned: 1,
      filesPruned: 0,
      rowGroupsTotal: 10,
      rowGroupsPlanned: rowGroups.length,
      rowGroupsPrunedByStatistics: 0,
      rowGroupsPrunedByBloom: 0,
      bytesTotal: file.sizeBytes,
      bytesPlanned: file.selectedBytes,
      rowsPlanned: 2048 * rowGroups.length,
    },
  });
  const splits = options.splits ?? [
    [0, 1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ];
  const request: SplitRequest = {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'query-1',
    fragmentId: 0,
    lane: 'query',
    owner: options.owner ?? 'ada 1',
    sql:
      options.sql ??
      'SELECT count(*) AS n, min(id) AS low, max(id) AS high, max(region) AS region FROM orders',
    tables: [{ kind: 'scan', catalog: 'lake', schema: 'sales', table: 'orders', scan: scanOf([]) }],
    views: [],
    defaultCatalog: 'lake',
    defaultSchema: 'sales',
    settings: { TimeZone: 'UTC' },
    setup: [],
    arrow: 'lossless',
    limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 30, timeoutMs: 60_000 },
    splitTable: 0,
    splits: splits.map((rowGroups, index) => ({ id: index + 10, scan: scanOf(rowGroups) })),
  };
  return { request, stores: [store] };
}

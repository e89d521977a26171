import { scanViewSql, sessionStatements } from '@svc/fragment-fn';
import {
  type DeltaTable,
  loadDeltaTable,
  type ObjectStore,
  planDeltaScan,
  type StagedTable,
  stageScan,
  type TableScan,
} from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import type { EngineScope } from './engine-scope.js';

export const everything: ScanRequest = { columns: undefined, filters: [] };

export interface ReadOptions {
  readonly version?: number;
  readonly request?: ScanRequest;
  /** SQL over the table `t`; by default each row as JSON. */
  readonly sql?: string;
}

export interface DeltaRows {
  readonly table: DeltaTable;
  readonly scan: TableScan;
  readonly staged: StagedTable;
  /** Sorted. */
  readonly rows: readonly string[];
}

/** Reads a Delta table the way a fragment does: planned, staged, and through the view of the engine. */
export async function readDelta(
  scope: EngineScope,
  store: ObjectStore,
  location: string,
  {
    version,
    request = everything,
    sql = 'SELECT to_json(whole_row)::VARCHAR AS v FROM t AS whole_row',
  }: ReadOptions = {},
): Promise<DeltaRows> {
  const { lease, cache, footers } = scope;
  const pin = version === undefined ? undefined : ({ kind: 'id', snapshotId: BigInt(version) } as const);
  const table = await loadDeltaTable(store, location, { pin });
  const scan = await planDeltaScan(table, request, { tableName: 'd.s.t', footers });
  const staged = await stageScan(scan, { store, cache, footers, directory: lease.inputDirectory });
  const name = { catalog: 'd', schema: 's', table: 't' };
  const session = { tables: [name], defaultCatalog: 'd', defaultSchema: 's', settings: { TimeZone: 'UTC' } };
  await lease.execute([...sessionStatements(session), scanViewSql(name, scan.columns, staged.groups)]);
  try {
    const text = await scope.text(
      `SELECT coalesce(string_agg(v::VARCHAR, chr(10) ORDER BY v::VARCHAR), '') FROM (${sql})`,
    );
    return { table, scan, staged, rows: text === '' ? [] : text.split('\n') };
  } finally {
    await lease.execute(['USE memory', 'DETACH d']);
  }
}

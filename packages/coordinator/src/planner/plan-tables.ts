/** From what a statement wants of its tables to what a fragment reads of them. */
import { QueryError } from '@svc/base';
import type { FragmentTable } from '@svc/fragment-fn';
import type { ScanRequest } from '@svc/sql';
import { guardedError } from '../policy/guarded-error.js';
import type { PlannerDependencies } from './planner-dependencies.js';
import { type IcebergSource, type ResolvedTable, shownName } from './resolve-tables.js';

/** One request per table. Throws UNSUPPORTED_TABLE_FEATURE, and what planning a scan throws. */
export async function planTables(
  dependencies: PlannerDependencies,
  tables: readonly ResolvedTable[],
  requests: readonly ScanRequest[],
  signal: AbortSignal,
): Promise<readonly FragmentTable[]> {
  return await Promise.all(
    tables.map(async (table, index) => {
      const request = requests[index] ?? { columns: undefined, filters: [] };
      if (table.source.kind === 'iceberg') refuseUnsupportedColumns(table, table.source, request);
      if (table.isGuarded !== true) return await planTable(dependencies, table, request, signal);
      // What metadata says of rows it says of hidden ones too: they are all read.
      const { use: _use, ...whole } = request;
      // Messages name data files, whose paths hold values of their rows.
      return await planTable(dependencies, table, whole, signal).catch((error: unknown) => {
        throw guardedError(error);
      });
    }),
  );
}

async function planTable(
  dependencies: PlannerDependencies,
  table: ResolvedTable,
  request: ScanRequest,
  signal: AbortSignal,
): Promise<FragmentTable> {
  const { source } = table;
  const name = { catalog: table.catalog, schema: table.schema, table: table.table };
  switch (source.kind) {
    case 'iceberg': {
      const scan = await dependencies.planScan({ ...table, source }, request, signal);
      return { ...name, kind: 'scan', scan, filters: request.filters };
    }
    case 'delta':
      return { ...name, kind: 'scan', scan: await source.plan(request, signal), filters: request.filters };
    case 'computed': {
      const rows = await source.rows(request, signal);
      return { ...name, kind: 'rows', columns: source.fields, rows };
    }
    case 'files': {
      const { files, unread } = await source.plan(request, signal);
      return { ...name, kind: 'files', columns: table.columns, call: source.call, files, unread };
    }
  }
}

/** A column of a type that this version does not know is refused by name, and only when the statement reads it. */
function refuseUnsupportedColumns(
  table: ResolvedTable,
  { fields }: IcebergSource,
  request: ScanRequest,
): void {
  const { schema, table: shown } = shownName(table);
  const read = request.columns?.map(([name]) => name?.toLowerCase());
  for (const { name, type } of fields) {
    if (type.kind === 'unsupported' && (read === undefined || read.includes(name.toLowerCase()))) {
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `Column "${name}" of ${schema}.${shown} has the type ${type.text}, which cannot be read; select the other columns by name.`,
      );
    }
  }
}

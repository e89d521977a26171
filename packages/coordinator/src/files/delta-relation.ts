/** A Delta table that a statement names by its folder. */
import { QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import { engineColumns } from '@svc/fragment-fn';
import {
  displayLocation,
  type FooterCache,
  loadDeltaTable,
  type ObjectStore,
  planDeltaScan,
  type SnapshotPin,
} from '@svc/lake';
import type { FileRead } from '@svc/sql';
import type { ResolvedTable } from '../planner/resolve-tables.js';

export interface DeltaRelationContext {
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  readonly lease: EngineLease;
  readonly signal: AbortSignal;
}

/** Throws INVALID_ARGUMENT for options that are none, and what loading a Delta table throws. */
export async function resolveDelta(
  read: FileRead,
  location: string,
  { store, footers, lease, signal }: DeltaRelationContext,
): Promise<Pick<ResolvedTable, 'columns' | 'rowCount' | 'source'>> {
  if (/^https?:[^#]*\?/i.test(location))
    throw new QueryError(
      'NOT_SUPPORTED',
      `${displayLocation(location)}: a URL with a query names one file, and a Delta table is a folder of them.`,
    );
  const pin = await pinOf(read, lease, signal);
  const table = await loadDeltaTable(store, location, { pin, signal }).catch((error: unknown) => {
    throw withHint(withoutSecrets(error, location), read);
  });
  const tableName = `delta_scan('${displayLocation(location)}')`;
  return {
    columns: engineColumns(table.columns),
    rowCount: BigInt(table.rowCount ?? 1000),
    source: {
      kind: 'delta',
      store,
      plan: (request, planSignal) =>
        planDeltaScan(table, request, { tableName, footers, signal: planSignal }),
    },
  };
}

const optionNames = ['version', 'timestamp'];

async function pinOf(
  { options, hasOtherArguments }: FileRead,
  lease: EngineLease,
  signal: AbortSignal,
): Promise<SnapshotPin> {
  const unknown = [...options.keys()].find((name) => !optionNames.includes(name));
  const [version, timestamp] = optionNames.map((name) => options.get(name));
  if (hasOtherArguments || unknown !== undefined || (version !== undefined && timestamp !== undefined))
    throw new QueryError(
      'INVALID_ARGUMENT',
      "delta_scan takes one of version and timestamp: delta_scan('folder', version = 3), delta_scan('folder', timestamp = '2026-01-01 00:00:00'); both are written out, as a whole number and a text.",
    );
  if (typeof version === 'bigint') return { kind: 'id', snapshotId: version };
  if (typeof timestamp === 'string')
    return { kind: 'timestamp', timestampMs: await milliseconds(timestamp, lease, signal) };
  if (version === undefined && timestamp === undefined) return { kind: 'current' };
  throw new QueryError(
    'INVALID_ARGUMENT',
    "delta_scan: version is a number and timestamp a text, such as '2026-01-01 00:00:00+01'.",
  );
}

/** A text without a zone is in UTC. */
async function milliseconds(text: string, lease: EngineLease, signal: AbortSignal): Promise<number> {
  const sql = `SELECT coalesce(epoch_ms(TRY_CAST($1::VARCHAR AS TIMESTAMP WITH TIME ZONE))::VARCHAR, '')`;
  const answer = await lease.queryText(sql, [text], signal);
  if (answer !== '') return Number(answer);
  throw new QueryError(
    'INVALID_ARGUMENT',
    `delta_scan: ${JSON.stringify(text.slice(0, 64))} is not a timestamp.`,
  );
}

function withoutSecrets(error: unknown, location: string): unknown {
  const shown = displayLocation(location);
  if (!(error instanceof QueryError) || shown === location) return error;
  return new QueryError(error.code, error.message.replaceAll(location, shown), { cause: error });
}

/** Who wrote a path alone may have meant a file. */
function withHint(error: unknown, read: FileRead): unknown {
  if (!(error instanceof QueryError) || error.code !== 'TABLE_NOT_FOUND' || read.function !== undefined)
    return error;
  return new QueryError(
    'TABLE_NOT_FOUND',
    `${error.message} A path without an extension is read as a Delta table; files are read by read_csv('…') and the like.`,
    { cause: error },
  );
}

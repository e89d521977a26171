/** CREATE OR REPLACE TABLE: one commit makes the table another one, or it is made where there is none. */
import {
  commitWithRetry,
  createReplacement,
  type LoadedTable,
  replacedTable,
  type TableDefinition,
} from '@svc/lake';
import type { CreateTable } from '@svc/sql';
import type { Session } from '../identity/session.js';
import type { PlannerDependencies } from '../planner/planner-dependencies.js';
import type { ResolvedTable } from '../planner/resolve-tables.js';
import { permitChange } from '../policy/changeable-catalogs.js';
import { targetOf } from '../policy/policy-enforcer.js';
import { isCode, writablePlace } from './change-catalog.js';
import { declaredColumns, tableDefinition } from './table-definition.js';
import { engineSummary, type WriteDependencies, type WriteOptions, type WrittenRows } from './write-rows.js';

type Place = ReturnType<typeof writablePlace>;

/** How often another writer may create or drop the table just before this statement replaces or creates it. */
const maxAttempts = 3;

/** One of the two; which one is decided anew when another writer was faster. */
export async function createOrReplace<T>(
  { writable, identifier }: Place,
  signal: AbortSignal,
  { create, replace }: { create(): Promise<T>; replace(existing: LoadedTable): Promise<T> },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const existing = await writable.loadTable(identifier, { signal }).catch((error: unknown) => {
      if (isCode(error, 'TABLE_NOT_FOUND')) return undefined;
      throw error;
    });
    try {
      return existing === undefined ? await create() : await replace(existing);
    } catch (error) {
      const isOvertaken = isCode(error, existing === undefined ? 'ALREADY_EXISTS' : 'TABLE_NOT_FOUND');
      if (!isOvertaken || attempt === maxAttempts) throw error;
    }
  }
}

/** CREATE OR REPLACE TABLE with columns. Answers a line that says what was done. */
export async function createOrReplaceTable(
  statement: CreateTable,
  dependencies: WriteDependencies,
  { session, signal }: Pick<WriteOptions, 'session' | 'signal'>,
): Promise<string> {
  const change = { settings: session.settings, catalogs: dependencies.planner.catalogsToChange(session) };
  const place = writablePlace(statement.name, change);
  const definition = tableDefinition(statement, declaredColumns(statement));
  return await createOrReplace(place, signal, {
    async create() {
      await place.writable.createTable(place.identifier, definition, { signal });
      return `Table ${place.name} was created.`;
    },
    async replace(existing) {
      permitReplacement(dependencies.planner, session, place);
      const target = replacedTable(existing, definition);
      await commitReplacement({ place, definition, target, dependencies, session, signal, dataFiles: [] });
      return `Table ${place.name} was replaced.`;
    },
  });
}

/** Throws PERMISSION_DENIED: its rows go, and others are added. */
export function permitReplacement({ policies }: PlannerDependencies, session: Session, place: Place): void {
  if (policies === undefined) return;
  const target = targetOf(place.catalog, place.identifier);
  permitChange(policies.enforcer, session, target, 'DELETE');
  permitChange(policies.enforcer, session, target, 'INSERT');
}

export interface ReplacementToCommit {
  readonly place: Place;
  readonly definition: TableDefinition;
  /** What `replacedTable` made of the table, and the files that were written for it. */
  readonly target: LoadedTable;
  readonly dataFiles: WrittenRows['dataFiles'];
  readonly readFrom?: Parameters<typeof createReplacement>[0]['readFrom'];
  readonly dependencies: Pick<WriteDependencies, 'manifests' | 'planner' | 'version'>;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Throws PERMISSION_DENIED where the rules that allowed it have changed while its rows were written. */
export async function commitReplacement(replacement: ReplacementToCommit): Promise<void> {
  const { place, definition, target, dataFiles, readFrom, dependencies, session, signal } = replacement;
  const { manifests, planner, version } = dependencies;
  permitReplacement(planner, session, place);
  const change = createReplacement({
    store: target.store,
    files: manifests,
    dataFiles,
    summary: engineSummary(version),
    definition,
    target,
    readFrom,
  });
  await commitWithRetry({ catalog: place.writable, identifier: target.identifier, change, signal });
}

/** The current snapshot of `table`, if that is what a query reads: rows that others add to it meanwhile would be lost. */
export function currentSnapshotRead(
  reads: readonly ResolvedTable[],
  place: Place,
  table: LoadedTable,
): ReplacementToCommit['readFrom'] {
  for (const { catalog, source } of reads) {
    if (source.kind !== 'iceberg') continue;
    const { loaded, pin } = source;
    const { currentSnapshotId } = loaded.metadata;
    const isOwn =
      catalog === place.catalog && JSON.stringify(loaded.identifier) === JSON.stringify(table.identifier);
    const isCurrent = pin.kind === 'current' || (pin.kind === 'id' && pin.snapshotId === currentSnapshotId);
    if (isOwn && isCurrent) return { snapshotId: currentSnapshotId };
  }
  return undefined;
}

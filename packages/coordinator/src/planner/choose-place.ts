/** Where a statement runs: here, or in stages on executors. What is not worth it, or cannot be, runs here as the user wrote it. */
import { QueryError } from '@svc/base';
import type { FragmentTable } from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import type { ExecutionPlace } from '../identity/session-settings.js';
import type { ExecutorKinds } from '../scheduler/executors.js';
import type { DistributionRules } from './planner-dependencies.js';

export type Place =
  | { readonly kind: 'here'; readonly reason: string }
  | { readonly kind: 'elsewhere'; readonly kinds: ExecutorKinds; readonly reason: string };

export interface PlaceOptions {
  readonly execution: ExecutionPlace;
  readonly rules: DistributionRules | undefined;
  readonly tables: readonly FragmentTable[];
  readonly stores: readonly (ObjectStore | undefined)[];
  readonly isWholeColumns: boolean;
  /** Engines of this process that nobody uses. */
  idleHosts(): number;
}

/** So many times `fragments.distribute_bytes` one node reads while workers are busy: what is larger waits for them. */
const busyFactor = 4;

/** Throws NO_EXECUTOR where the session asks for a kind of which there is none. */
export function choosePlace(options: PlaceOptions): Place {
  const { execution, rules, tables, stores } = options;
  if (execution === 'local') return here('svc.execution is local');
  const kinds = reachableKinds(execution, rules);
  if (rules === undefined || kinds.length === 0) {
    if (execution !== 'auto') throw noExecutor(execution);
    return here('there is no worker and no function');
  }
  if (tables.length === 0) return here('it reads no table');
  for (const [index, table] of tables.entries()) {
    const name = `${table.catalog}.${table.schema.trim()}.${table.table}`;
    if (table.kind === 'rows') return here(`the rows of ${name} are made by the coordinator`);
    if (table.kind !== 'scan') return here(`the files of ${name} are read where the statement is`);
    const store = stores[index];
    if (table.scan.groups.length > 0 && store?.grant === undefined)
      return here(`the files of ${name} cannot be opened elsewhere`);
  }
  if (execution !== 'auto') return { kind: 'elsewhere', kinds, reason: `svc.execution is ${execution}` };
  return worthIt(options, rules, kinds);
}

function worthIt(
  { tables, stores, isWholeColumns, idleHosts }: PlaceOptions,
  rules: DistributionRules,
  kinds: ExecutorKinds,
): Place {
  const { distributeBytes, lambdaBytes } = rules;
  const bytes = plannedBytesOf(tables);
  if (isWholeColumns) return here('whole columns are the work of whoever sends them');
  if (bytes < distributeBytes)
    return here(`it reads ${bytes} bytes, less than ${distributeBytes} (fragments.distribute_bytes)`);
  if (stores.some((store, index) => isOnThisMachine(store, tables[index])))
    return here('its files are on this machine');
  const isLarge = bytes >= lambdaBytes;
  const capacity = rules.executors.capacity?.();
  const areWorkersBusy = kinds.includes('workers') && capacity?.freeWorkerSlots === 0;
  // A sandbox that starts cold takes as long as some waiting does.
  const hasWarm = areWorkersBusy && kinds.includes('lambda') && (capacity?.warmSandboxes ?? 0) > 0;
  const chosen = kinds.filter(
    (kind) => kind === 'workers' || isLarge || hasWarm || !kinds.includes('workers'),
  );
  const reads = `it reads ${bytes} bytes`;
  if (!areWorkersBusy) return { kind: 'elsewhere', kinds: chosen, reason: reads };
  const reason = `${reads}, and no slot of a worker is free`;
  if (!chosen.includes('lambda') && bytes < busyFactor * distributeBytes && idleHosts() > 0)
    return here(reason);
  return { kind: 'elsewhere', kinds: chosen, reason };
}

export function plannedBytesOf(tables: readonly FragmentTable[]): number {
  return tables.reduce((sum, table) => sum + (table.kind === 'scan' ? table.scan.counts.bytesPlanned : 0), 0);
}

/** Where there is somebody now to run what the session has run there. */
export function reachableKinds(
  execution: ExecutionPlace,
  rules: DistributionRules | undefined,
): ExecutorKinds {
  if (rules === undefined || execution === 'local') return [];
  const { executors } = rules;
  const reachable: ExecutorKinds = [
    ...(executors.workers().length > 0 ? (['workers'] as const) : []),
    ...(executors.lambda() === undefined ? [] : (['lambda'] as const)),
  ];
  return execution === 'auto' ? reachable : reachable.filter((kind) => kind === execution);
}

/** Workers may be on this machine too, or see its folders: who knows that may ask for them. */
function isOnThisMachine(store: ObjectStore | undefined, table: FragmentTable | undefined): boolean {
  const file = table?.kind === 'scan' ? table.scan.groups[0]?.files[0] : undefined;
  return file !== undefined && store?.localPath(file.location) !== undefined;
}

function here(reason: string): Place {
  return { kind: 'here', reason };
}

export function noExecutor(execution: ExecutionPlace): QueryError {
  const what = execution === 'lambda' ? 'function' : 'worker';
  return new QueryError(
    'NO_EXECUTOR',
    `No ${what} can be reached, and svc.execution is ${execution}: try again later, or RESET svc.execution.`,
  );
}

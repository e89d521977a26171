/** Tables and views of a statement whose rows are not all its user's to see: they lie hidden, and are read through a view. */
import { randomBytes } from 'node:crypto';
import { QueryError, withSpan } from '@svc/base';
import type { EngineColumn } from '@svc/fragment-fn';
import type { LoadedTable } from '@svc/lake';
import type { TableReference } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import { type CompileOptions, compilePolicies, mappingPlace } from '../policy/compile-expressions.js';
import { policiesChanged } from '../policy/planned-policies.js';
import type {
  AppliedExpression,
  PolicyIdentity,
  PolicyTarget,
  RestrictedTable,
  TableDecision,
} from '../policy/policy.js';
import { bothDecisions, denied, hidesAnything, type PolicyEnforcer } from '../policy/policy-enforcer.js';
import { DecisionLog, type PolicyStamp } from '../policy/policy-stamp.js';
import { hiddenName, policySql, type ResolvedView } from '../policy/policy-view.js';
import { type IcebergSource, type ResolvedTable, resolveOne } from './resolve-tables.js';

export type Target = Required<PolicyTarget>;

/** A table, and the columns that are read of it. Without them: those that it has now. */
type TableRead = Pick<IcebergSource, 'loaded'> & Partial<Pick<IcebergSource, 'fields'>>;

/** What policies did to a statement. */
export interface AppliedPolicies {
  /** Names of the policies. */
  readonly names: readonly string[];
  /** For admins. */
  readonly expressions: readonly AppliedExpression[];
  readonly hasSample: boolean;
  /** Rows are hidden from the user: nothing of the statement may be told by counts, sizes or messages. */
  readonly isGuarded: boolean;
  /** Of the rules and roles by which all of this was decided; undefined: there are none. */
  readonly stamp: PolicyStamp | undefined;
}

export const noPolicies: AppliedPolicies = {
  ...{ names: [], expressions: [], hasSample: false, isGuarded: false },
  stamp: undefined,
};

/** Decides for one statement. */
export class StatementPolicies {
  readonly identity: PolicyIdentity;
  readonly #enforcer: PolicyEnforcer;
  readonly #log: DecisionLog;
  /** One for the statement, so that what a catalog has hashed can be joined within it and nowhere else. */
  readonly #salt = randomBytes(32);
  readonly #names = new Set<string>();
  readonly #expressions = new Map<string, AppliedExpression>();
  /** Something lies hidden. */
  isGuarded = false;
  /** A view of the statement is of a sample of rows. */
  hasSample = false;

  constructor(enforcer: PolicyEnforcer, session: Session) {
    this.#enforcer = enforcer;
    this.identity = enforcer.identityOf(session);
    this.#log = new DecisionLog(enforcer, this.identity);
  }

  get applied(): AppliedPolicies {
    const { isGuarded, hasSample } = this;
    return {
      names: [...this.#names].sort(),
      expressions: [...this.#expressions.values()],
      ...{ isGuarded, hasSample, stamp: this.#log.stamp },
    };
  }

  /** Rules may change while catalogs are asked. Throws POLICY_CHANGED: a half of each is what nobody has written. */
  throwIfChanged(session: Session): void {
    if (!this.#log.isStillSo(session)) throw policiesChanged();
  }

  /** What the statement is told hangs on all rules: it lists what there is. */
  hangsOnAll(): void {
    this.#log.hangsOnAll();
  }

  /** What hides something of the relation. Throws PERMISSION_DENIED. */
  restrictionOf(target: Target, read?: TableRead): RestrictedTable | undefined {
    return this.#applied(target, bothDecisions(this.#log.decide(target), read && this.#demanded(read)));
  }

  /**
   * What its own catalog hides of a table that our policies are not asked about: no rule of ours lifts that. Throws PERMISSION_DENIED,
   * which names what the user asked for.
   */
  demandOf(asked: Target, read: TableRead): RestrictedTable | undefined {
    return this.#applied(asked, this.#demanded(read) ?? { kind: 'unrestricted' });
  }

  /** Whether its commits and files may be told of: of all columns that it ever had, and not of those that are read. */
  isWhole(target: Target, loaded: LoadedTable): boolean {
    return loaded.readRestrictions === undefined && this.restrictionOf(target) === undefined;
  }

  #demanded({ loaded, fields }: TableRead): TableDecision | undefined {
    return this.#enforcer.restrictionsOf?.(loaded, { salt: this.#salt, ...(fields && { fields }) });
  }

  #applied(target: Target, decision: TableDecision): RestrictedTable | undefined {
    if (decision.kind === 'refused') throw denied(target, 'SELECT', decision.reason);
    if (decision.kind === 'unrestricted') return undefined;
    for (const name of decision.applied) this.#names.add(name);
    for (const each of [...decision.filters, ...decision.masks.values()])
      this.#expressions.set(JSON.stringify(each), each);
    return hidesAnything(decision) ? decision : undefined;
  }
}

/** Rows of a size that tells nothing: what the optimiser makes of it, others see in EXPLAIN. */
const guardedRows = 1000n;

/** The table where no statement finds it. Columns of row lineage are told of files and their order: it has none. */
export function hiddenTable(table: ResolvedTable): ResolvedTable {
  const { catalog, schema, table: name, source, columns } = table;
  const lineage = source.kind === 'iceberg' ? source.lineage.length : 0;
  return {
    ...table,
    ...hiddenName(table),
    columns: columns.slice(0, columns.length - lineage),
    source: source.kind === 'iceberg' ? { ...source, lineage: [] } : source,
    rowCount: guardedRows,
    isGuarded: true,
    shown: { catalog, schema, table: name },
  };
}

/**
 * A table that a policy of `target` asks for: loaded as the user who asks, and no policy holds for it. What its catalog keeps from him
 * would change what the policy says, or be told by it: NOT_SUPPORTED.
 */
export async function mappingTable(
  reference: TableReference,
  target: Target,
  { session, catalogs, signal }: MappingOptions,
): Promise<ResolvedTable> {
  const settings = { ...session.settings, catalog: target.catalog, schema: target.schema };
  mappingPlace(reference, settings, catalogs);
  const table = await resolveOne(
    { name: reference, pin: { kind: 'current' } },
    { settings, catalogs, signal },
  );
  if (table.source.kind === 'iceberg' && table.source.loaded.readRestrictions !== undefined)
    throw new QueryError('NOT_SUPPORTED', 'The catalog restricts what is read of a mapping table.');
  return table;
}

export interface MappingOptions {
  readonly session: Session;
  /** Those of the session, without what policies keep from it. */
  readonly catalogs: CatalogDirectory;
  readonly signal: AbortSignal;
}

export interface GuardOptions extends Omit<CompileOptions, 'table' | 'columns'> {
  readonly restriction: RestrictedTable;
  /** As the catalog calls it. */
  readonly target: Target;
  /** Under which table name the engine is to find the view. */
  readonly viewName: string;
  readonly columns: readonly EngineColumn[];
  /** Where the view lies. Default: under the relation's own name. */
  readonly placed?: Pick<ResolvedView, 'catalog' | 'schema' | 'table'>;
  /** What the user knows it by. Default: the target. */
  readonly shown?: string;
}

export interface GuardingView {
  readonly view: ResolvedView;
  readonly usesStatementValues: boolean;
}

/** The view that stands for the relation. Throws POLICY_NOT_APPLICABLE. */
export function guardingView(options: GuardOptions): Promise<GuardingView> {
  return withSpan('svc.policy_rewrite', {}, () => makeView(options));
}

async function makeView({
  restriction,
  target,
  viewName,
  columns,
  placed,
  shown,
  ...options
}: GuardOptions): Promise<GuardingView> {
  const { catalog, schema, table } = target;
  const name = shown ?? `${catalog}.${schema}.${table}`;
  const compiled = await compilePolicies(restriction, name, {
    ...options,
    table,
    columns: columns.map((column) => column.name),
  });
  const textOf = (how: { readonly isBarrier: boolean; readonly isOrdered: boolean }): string =>
    policySql({
      hidden: hiddenName({ catalog, schema, table: viewName }),
      alias: table,
      ...{ columns, ...how, ...compiled },
    });
  return {
    usesStatementValues: compiled.usesStatementValues,
    view: {
      ...(placed ?? { catalog, schema, table: viewName }),
      columns: columns.map((column) => column.name),
      sql: textOf({ isBarrier: true, isOrdered: false }),
      guard: {
        isPolicy: true,
        ...(shown !== undefined && { shown }),
        ...(compiled.hasSubquery
          ? { orderedSql: textOf({ isBarrier: true, isOrdered: true }) }
          : { plainSql: textOf({ isBarrier: false, isOrdered: false }) }),
      },
    },
  };
}

/** Whether a policy fits its table, asked when it is made: what is wrong is said to the admin, in the engine's words. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import { type EngineColumn, engineColumns, qualified, stubFileSql, stubViewSql } from '@svc/fragment-fn';
import { quoteIdentifier, type TableReference, type TableTarget } from '@svc/sql';
import type { Session } from '../identity/session.js';
import { loadRelation } from '../planner/load-relation.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { arrowFields } from '../results/arrow-fields.js';
import { compileExpression, mappingPlace } from './compile-expressions.js';
import type { Policy } from './policy.js';
import { policySql } from './policy-view.js';

type Dependencies = Pick<PlannerDependencies, 'pool' | 'catalogsToChange' | 'policies'>;

interface Stub {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly EngineColumn[];
}

/**
 * Throws SYNTAX_ERROR, BINDING_ERROR, FUNCTION_NOT_ALLOWED, NOT_SUPPORTED, and TABLE_NOT_FOUND for a mapping table that the
 * session's user cannot load. A policy on a schema is checked against each table that it meets, when it meets it: here only that it
 * parses and names what exists.
 */
export async function validatePolicy(
  dependencies: Dependencies,
  { target, rule }: Policy,
  session: Session,
  signal: AbortSignal,
): Promise<void> {
  const { policies, pool } = dependencies;
  if (policies === undefined || target.table === undefined) return;
  const { catalog, schema, table } = target;
  const catalogs = dependencies.catalogsToChange(session);
  const settings = { ...session.settings, catalog, schema };
  const { columns: fields } = await loadRelation([catalog, schema, table], settings, catalogs, signal);
  const columns = engineColumns(fields);
  const masked = rule.kind === 'row-filter' ? undefined : columnOf(columns, rule.column);
  const stubs = new Map<string, Stub>();
  const addStub = (stub: Stub): Stub => {
    stubs.set(qualified(stub).toLowerCase(), stub);
    return stub;
  };
  const protectedTable = addStub({ catalog: 'svc', schema: 'main', table: 'protected', columns });
  const mapping = async (reference: TableReference): Promise<TableTarget> => {
    mappingPlace(reference, settings, catalogs);
    const parts = [reference.catalog ?? catalog, reference.schema ?? schema, reference.table];
    const relation = await loadRelation(parts, settings, catalogs, signal);
    if (relation.kind !== 'table')
      throw new QueryError(
        'NOT_SUPPORTED',
        `${relation.path.join('.')} is no table: a policy reads tables only.`,
      );
    const name = `mapping ${relation.path.join('.')}`;
    addStub({ catalog: 'svc', schema: 'main', table: name, columns: engineColumns(relation.columns) });
    return { catalog: 'svc', schema: 'main', table: name };
  };
  const owner = ownerOf(session, policies);
  const { sql } = await compileExpression(rule.expression, {
    ...{ texts: policies.texts, table, owner, signal, mapping },
    columns: columns.map(({ name }) => name),
    identity: { username: session.identity.username, roles: [], isNameVerified: true },
  });
  const from = `FROM ${qualified(protectedTable)} AS ${quoteIdentifier(table)}`;
  const lease = await pool.lease({ owner, lane: 'small', signal });
  try {
    const statements = [...stubs.values()].flatMap((stub, index) => {
      const path = join(lease.inputDirectory, `policy-${randomUUID()}-${index}.parquet`);
      return [stubFileSql(path, stub.columns), stubViewSql(stub, path, stub.columns, 1n)];
    });
    await lease.execute(["ATTACH ':memory:' AS svc", ...statements], signal);
    const { schema: result } = await lease.describe({ sql: `SELECT (${sql}) AS value ${from}` }, signal);
    const [value] = arrowFields(result);
    if (masked === undefined && value?.type !== 'BOOLEAN')
      throw new QueryError('BINDING_ERROR', `A row filter must be BOOLEAN; this one is ${value?.type}.`);
    const whole = policySql({
      hidden: protectedTable,
      alias: table,
      columns,
      ...{ isBarrier: false, isOrdered: false },
      filters: masked === undefined ? [sql] : [],
      masks: new Map(masked === undefined ? [] : [[masked.name.toLowerCase(), sql]]),
    });
    await lease.describe({ sql: whole }, signal);
  } finally {
    await lease.release();
  }
}

function columnOf(columns: readonly EngineColumn[], name: string): EngineColumn {
  const found = columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  throw new QueryError('BINDING_ERROR', `The table has no column ${JSON.stringify(name)} to be masked.`);
}

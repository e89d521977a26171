/**
 * Parameters in points in time (`AT (VERSION => ?)`). A point decides which snapshot the engine is shown, so its values are
 * the planner's; the engine gets the statement without them.
 */
import { QueryError } from '@svc/base';
import type { EngineLease, StatementDescription } from '@svc/engine';
import {
  describedExpression,
  deserializeQuery,
  type GatedQuery,
  inlineParameters,
  renumberParameters,
  selectOfExpression,
  type TimeExpression,
} from '@svc/sql';
import { type Field, RecordBatchReader, Schema, Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import { ipcParts } from '../results/ipc-parts.js';
import { writableLiterals } from './parameter-literals.js';

/** What a client bound: an Arrow IPC stream of one row, undefined when nothing was bound. */
export interface BoundParameters {
  readonly identifiers: readonly string[];
  readonly values: Uint8Array | undefined;
}

/** The points of a query that have parameters. */
export function pointsWithParameters({ tables }: GatedQuery): readonly TimeExpression[] {
  return tables.flatMap(({ timeTravel }) =>
    timeTravel?.kind === 'expression' && timeTravel.parameters.length > 0 ? [timeTravel] : [],
  );
}

/** The point as a query of one value. Throws INVALID_PARAMETER for a parameter without a value that it could have. */
export async function selectOfPoint(
  lease: EngineLease,
  point: TimeExpression,
  { identifiers, values }: BoundParameters,
  signal: AbortSignal,
): Promise<string> {
  const select = await lease.queryText(deserializeQuery, [selectOfExpression(point)], signal);
  if (point.parameters.length === 0) return select;
  const literals = values === undefined ? new Map<string, string>() : writableLiterals(values, identifiers);
  for (const identifier of point.parameters)
    if (values !== undefined && !literals.has(identifier))
      throw new QueryError(
        'INVALID_PARAMETER',
        `Parameter ${identifier} has a type that AT (${point.unit} => …) cannot be of.`,
      );
  return inlineParameters(select, literals);
}

/** The parameters that are left for the engine when those of the points are gone from the text. */
export function engineParameters(
  sql: string,
  { identifiers, values }: BoundParameters,
): { readonly sql: string; readonly kept: readonly string[]; readonly parameters: BoundParameters } {
  const { sql: renumbered, kept } = renumberParameters(sql, identifiers);
  return {
    sql: renumbered,
    kept: kept.map((position) => identifiers[position] ?? ''),
    parameters: {
      identifiers: kept.map((_, index) => String(index + 1)),
      values:
        values === undefined || kept.length === 0
          ? undefined
          : tableToIPC(tableFromIPC(values).selectAt([...kept]), 'stream'),
    },
  };
}

/**
 * The description with all of the statement's parameters, in their order: `kept` are those that the engine was shown, as
 * it describes them; the others are described as what their points want.
 */
export async function describeAllParameters(
  lease: EngineLease,
  { description, kept, gated }: DescribedWithoutPoints,
  signal: AbortSignal,
): Promise<StatementDescription> {
  const fields = new Map<string, Field>();
  const add = (names: readonly string[], { parameterSchema }: StatementDescription): void =>
    RecordBatchReader.from(parameterSchema)
      .open()
      .schema.fields.forEach((field, index) => {
        const name = names[index] ?? '';
        if (!fields.has(name)) fields.set(name, field.clone({ name }));
      });
  add(kept, description);
  for (const point of pointsWithParameters(gated)) {
    const select = await lease.queryText(deserializeQuery, [describedExpression(point)], signal);
    const { sql, kept } = renumberParameters(select, point.parameters);
    const names = kept.map((position) => point.parameters[position] ?? '');
    add(names, await lease.describe({ sql }, signal));
  }
  const ordered = gated.parameters.flatMap((identifier) => fields.get(identifier) ?? []);
  const { schema: parameterSchema } = ipcParts(new Table(new Schema(ordered)));
  return { ...description, parameterSchema, parameterCount: ordered.length };
}

interface DescribedWithoutPoints {
  readonly description: StatementDescription;
  readonly kept: readonly string[];
  readonly gated: GatedQuery;
}

/** What a catalog demands of readers of a table (`read-restrictions`), in the words of policies. Whatever is not understood refuses the table. */
import { randomBytes } from 'node:crypto';
import type { IcebergType, LoadedTable, NestedField, ReadRestrictions } from '@svc/lake';
import { maskOf } from './catalog-masks.js';
import { filterOf } from './catalog-row-filter.js';
import { NotUnderstood } from './not-understood.js';
import type { AppliedExpression, TableDecision } from './policy.js';

/** The name under which audit log and EXPLAIN have it. */
const label = 'catalog:read-restrictions';

export interface RestrictionOptions {
  /** Of the schema that is read. */
  readonly fields: readonly NestedField[];
  /** At least 16 random bytes that are the statement's own, for `sha-256-query-local`. Default: new ones. */
  readonly salt?: Uint8Array;
}

/** Undefined where the catalog demands nothing. The expressions are over the table's columns, as those of policies are. */
export function catalogRestrictions(
  { readRestrictions, metadata }: Pick<LoadedTable, 'readRestrictions' | 'metadata'>,
  { fields, salt = randomBytes(32) }: RestrictionOptions,
): Exclude<TableDecision, { kind: 'unrestricted' }> | undefined {
  if (readRestrictions === undefined) return undefined;
  try {
    const { rowFilter } = readRestrictions;
    const filters = rowFilter === undefined ? [] : [applied(filterOf(rowFilter, fields))];
    const known = new Set(metadata.schemas.flatMap((schema) => [...fieldIds(schema.fields)]));
    const masks = masksOf(readRestrictions, { fields, salt, known });
    return { kind: 'restricted', filters, masks, applied: [label] };
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    return {
      kind: 'refused',
      reason: `the catalog restricts reading in a way that is not known here: ${error.what}`,
    };
  }
}

function masksOf(
  { columns }: ReadRestrictions,
  {
    fields,
    salt,
    known,
  }: {
    readonly fields: readonly NestedField[];
    readonly salt: Uint8Array;
    readonly known: ReadonlySet<number>;
  },
): ReadonlyMap<string, AppliedExpression> {
  const masks = new Map<string, AppliedExpression>();
  const nested = new Set(fields.flatMap(({ type }) => [...idsInside(type)]));
  for (const { fieldId, action } of columns) {
    const field = fields.find((each) => each.id === fieldId);
    if (field === undefined) {
      if (nested.has(fieldId)) throw new NotUnderstood('an action on a field inside of a column');
      if (!known.has(fieldId)) throw new NotUnderstood('an action on a column that the table never had');
      // A column of another of the table's schemas: it is not read here.
      continue;
    }
    const column = field.name.toLowerCase();
    if (masks.has(column)) throw new NotUnderstood('two actions on one column');
    masks.set(column, applied(maskOf(action, field, salt)));
  }
  return masks;
}

function applied(expression: string): AppliedExpression {
  return { policy: label, expression };
}

function* fieldIds(fields: readonly NestedField[]): Iterable<number> {
  for (const { id, type } of fields) {
    yield id;
    yield* idsInside(type);
  }
}

function* idsInside(type: IcebergType): Iterable<number> {
  switch (type.kind) {
    case 'struct':
      yield* fieldIds(type.fields);
      return;
    case 'list':
      yield type.elementId;
      yield* idsInside(type.element);
      return;
    case 'map':
      yield type.keyId;
      yield type.valueId;
      yield* idsInside(type.key);
      yield* idsInside(type.value);
  }
}

/** What a catalog demands of readers of a table (`read-restrictions`), in the words of policies. Whatever is not understood refuses the table. */
import { randomBytes } from 'node:crypto';
import {
  type IcebergType,
  type LoadedTable,
  type NestedField,
  type ReadRestrictions,
  schemaById,
} from '@svc/lake';
import { maskOf } from './catalog-masks.js';
import { filterOf } from './catalog-row-filter.js';
import { NotUnderstood } from './not-understood.js';
import type { AppliedExpression, TableDecision } from './policy.js';

/** The name under which audit log and EXPLAIN have it. */
const label = 'catalog:read-restrictions';

export interface RestrictionOptions {
  /** Of the schema that is read, as the metadata has it. Default: of the current one. */
  readonly fields?: readonly NestedField[];
  /** At least 16 random bytes that are the statement's own, for `sha-256-query-local`. Default: new ones. */
  readonly salt?: Uint8Array;
}

/** Undefined where the catalog demands nothing. The expressions are over the table's columns, as those of policies are. */
export function catalogRestrictions(
  { readRestrictions, metadata }: Pick<LoadedTable, 'readRestrictions' | 'metadata'>,
  { fields, salt = randomBytes(32) }: RestrictionOptions = {},
): Exclude<TableDecision, { kind: 'unrestricted' }> | undefined {
  if (readRestrictions === undefined) return undefined;
  try {
    const { rowFilter } = readRestrictions;
    const named = schemaById(metadata, undefined).fields;
    const read = fields ?? named;
    const filters = rowFilter === undefined ? [] : [applied(filterOf(rowFilter, { named, read }))];
    const masks = masksOf(readRestrictions, { metadata, fields: read, salt });
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
  { salt, ...read }: FieldsRead & { readonly salt: Uint8Array },
): ReadonlyMap<string, AppliedExpression> {
  const masks = new Map<string, AppliedExpression>();
  for (const { fieldId, action } of columns) {
    const field = read.fields.find((each) => each.id === fieldId);
    if (field === undefined) {
      refuseUnlessUnread(fieldId, read);
      continue;
    }
    const column = field.name.toLowerCase();
    if (masks.has(column)) throw new NotUnderstood('two actions on one column');
    masks.set(column, applied(maskOf(action, field, salt)));
  }
  return masks;
}

interface FieldsRead {
  readonly metadata: LoadedTable['metadata'];
  readonly fields: readonly NestedField[];
}

/**
 * A column that was dropped keeps nobody from reading what the table is now, as long as no other one has taken its name. At another
 * point of its history a column that the catalog speaks of may be there under another id: nobody can say which one is meant.
 */
function refuseUnlessUnread(fieldId: number, { metadata, fields }: FieldsRead): void {
  const all = metadata.schemas.flatMap((schema) => schema.fields);
  if (all.some(({ type }) => [...idsInside(type)].includes(fieldId)))
    throw new NotUnderstood('an action on a field inside of a column');
  const others = all.filter(({ id }) => id === fieldId);
  if (others.length === 0) throw new NotUnderstood('an action on a column that the table never had');
  if (fields !== schemaById(metadata, undefined).fields)
    throw new NotUnderstood('an action on a column that the table does not have at that point');
  const taken = new Set(fields.map(({ name }) => name.toLowerCase()));
  if (others.some(({ name }) => taken.has(name.toLowerCase())))
    throw new NotUnderstood('an action on a former column whose name another one has');
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

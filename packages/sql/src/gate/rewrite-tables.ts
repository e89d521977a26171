import type { ParsedQuery } from '../ast/parsed-statement.js';
import { mapInScope, walkOn } from '../ast/scoped-walk.js';
import { field, replaceField, textField } from '../json/access.js';
import type { JsonObject } from '../json/lossless.js';
import { readTableReference, type TableReference } from './table-gate.js';

/** Where a reference goes instead. Parts that are left out stay out: the engine's own search path fills them in. */
export interface TableTarget {
  readonly catalog?: string;
  readonly schema?: string;
  readonly table: string;
}

/**
 * The query with its table references renamed and without AT clauses, which the engine cannot run on our views. A
 * renamed reference without an alias gets its old name as one, so that `t.column` still means it. `targetOf` answers
 * undefined to keep the name. Answers the very same node when nothing changed: then the statement runs as written.
 */
export function rewriteTables(
  parsed: ParsedQuery,
  targetOf: (reference: TableReference) => TableTarget | undefined,
): JsonObject {
  return mapInScope(parsed.query, {
    baseTable: (node) => rename(node, targetOf(readTableReference(node))),
    commonTable: (node) => node,
    otherTable: walkOn,
    expression: walkOn,
  });
}

function rename(node: JsonObject, target: TableTarget | undefined): JsonObject {
  const stripped = field(node, 'at_clause') === null ? node : replaceField(node, 'at_clause', null);
  if (target === undefined) return stripped;
  const renamed = {
    ...stripped,
    catalog_name: target.catalog ?? '',
    schema_name: target.schema ?? '',
    table_name: target.table,
  };
  return textField(node, 'alias') === '' ? { ...renamed, alias: textField(node, 'table_name') } : renamed;
}

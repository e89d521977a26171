import { QueryError } from '@svc/base';
import { type AstVisitor, mapCtes, mapExpression, mapQuery, mapTable } from '../ast/map.js';
import type { ParsedQuery } from '../ast/parsed-statement.js';
import { field, listField, objectField, textField } from '../json/access.js';
import type { JsonObject } from '../json/lossless.js';
import { checkFunction, checkTableFunction, type GateProfile } from './function-gate.js';
import { volatileFunctions } from './function-lists.js';
import { checkTableName, readTableReference, StringTableNames, type TableReference } from './table-gate.js';

/** What a statement refers to, all of it allowed by name. Nothing has been looked up or bound yet. */
export interface GatedQuery {
  /** Every distinct table, in the order of appearance. Each must be resolved before the engine sees the statement. */
  readonly tables: readonly TableReference[];
  /** Files named by a string in place of a table; only in the embedded profile. */
  readonly files: readonly string[];
  /** Lower-case names of the functions and operators in use, table functions included. */
  readonly functions: ReadonlySet<string>;
  /** Has random() or the like: runs on one node. */
  readonly hasVolatile: boolean;
  /** Parameter identifiers in their order: "1", "2", … or names. */
  readonly parameters: readonly string[];
}

/**
 * Decides on a parsed query before anything is bound, since binding already runs table functions and folds constants.
 * Throws FUNCTION_NOT_ALLOWED, TABLE_REFERENCE_NOT_ALLOWED or NOT_SUPPORTED, naming the object (docs/sql.md).
 */
export function gate(parsed: ParsedQuery, profile: GateProfile): GatedQuery {
  const findings = new Findings(parsed.sql, profile);
  try {
    walker(findings, new Set()).query(parsed.query);
  } catch (caught) {
    if (caught instanceof RangeError)
      throw new QueryError('STATEMENT_TOO_LARGE', 'The statement is nested too deeply; flatten it.', {
        cause: caught,
      });
    throw caught;
  }
  return findings.result();
}

/** What the walk has found so far. */
class Findings {
  readonly profile: GateProfile;
  readonly #strings: StringTableNames;
  readonly #tables = new Map<string, TableReference>();
  readonly #files = new Set<string>();
  readonly #parameters = new Set<string>();
  readonly functions = new Set<string>();

  constructor(sql: string, profile: GateProfile) {
    this.profile = profile;
    this.#strings = new StringTableNames(sql);
  }

  addTable(node: JsonObject): void {
    const reference = readTableReference(node);
    if (this.#strings.isString(node)) {
      if (this.profile !== 'embedded' || field(node, 'at_clause') !== null)
        throw new QueryError(
          'TABLE_REFERENCE_NOT_ALLOWED',
          `'${reference.table}' is a string where a table belongs: files may not be read; ` +
            'a table name is written without quotes or in double quotes.',
        );
      this.#files.add(reference.table);
      return;
    }
    checkTableName(reference);
    this.#tables.set(tableKey(reference), reference);
  }

  addParameter(node: JsonObject): void {
    this.#parameters.add(textField(node, 'identifier'));
  }

  result(): GatedQuery {
    const parameters = [...this.#parameters];
    if (parameters.every((name) => /^\d+$/.test(name))) parameters.sort((a, b) => Number(a) - Number(b));
    return {
      tables: [...this.#tables.values()],
      files: [...this.#files],
      functions: this.functions,
      hasVolatile: [...this.functions].some((name) => volatileFunctions.has(name)),
      parameters,
    };
  }
}

/** Identifies a reference: the same key is the same table at the same point in time. */
export function tableKey(reference: TableReference): string {
  const { catalog, schema, table, timeTravel } = reference;
  const point = timeTravel === undefined ? null : Object.values(timeTravel).map(String);
  return JSON.stringify([catalog ?? null, schema ?? null, table, point]);
}

/** `scope` has the lower-case names of the common table expressions that a bare table name may mean here. */
function walker(findings: Findings, scope: ReadonlySet<string>): AstVisitor {
  const visitor: AstVisitor = {
    expression: (node) => {
      const kind = textField(node, 'class');
      if (kind === 'FUNCTION' || kind === 'WINDOW') findings.functions.add(checkFunction(node));
      else if (kind === 'PARAMETER') findings.addParameter(node);
      return mapExpression(node, visitor);
    },
    table: (node) => walkTable(node, findings, scope, visitor),
    query: (node) => walkQuery(node, findings, scope),
    ctes: (cteMap) => cteMap,
  };
  return visitor;
}

/**
 * WITH entries see those before them (DuckDB binds them in order, RECURSIVE or not). A recursive entry sees itself on
 * its right side only; its left side, like any entry's own query, sees what the name meant outside.
 */
function walkQuery(node: JsonObject, findings: Findings, outer: ReadonlySet<string>): JsonObject {
  let scope = outer;
  const cteMap = objectField(node, 'cte_map');
  if (listField(cteMap, 'map').length > 0)
    mapCtes(cteMap, walker(findings, outer), (name, query) => {
      walker(findings, scope).query(query);
      scope = new Set([...scope, name.toLowerCase()]);
      return query;
    });
  const visitor = walker(findings, scope);
  if (textField(node, 'type') !== 'RECURSIVE_CTE_NODE') return mapQuery(node, visitor);
  const name = textField(node, 'cte_name').toLowerCase();
  const inner = new Set([...scope, name, `recurring\0${name}`]);
  const right = objectField(node, 'right');
  const recursive = walker(findings, inner);
  return mapQuery(node, { ...visitor, query: (side) => (side === right ? recursive : visitor).query(side) });
}

function walkTable(
  node: JsonObject,
  findings: Findings,
  scope: ReadonlySet<string>,
  visitor: AstVisitor,
): JsonObject {
  switch (textField(node, 'type')) {
    case 'BASE_TABLE':
      if (!isCommonTableExpression(node, scope)) findings.addTable(node);
      return field(node, 'at_clause') === null ? node : mapTable(node, visitor);
    case 'TABLE_FUNCTION': {
      const call = objectField(node, 'function');
      if (textField(call, 'class') !== 'FUNCTION')
        throw new QueryError('NOT_SUPPORTED', 'Only a function call may stand here in FROM.');
      findings.functions.add(checkTableFunction(call, findings.profile));
      mapExpression(call, visitor);
      return mapTable(node, { ...visitor, expression: (expression) => expression });
    }
    case 'SHOW_REF':
      if (textField(node, 'show_type') !== 'SUMMARY' || textField(node, 'table_name') !== '')
        throw new QueryError('NOT_SUPPORTED', 'SHOW and DESCRIBE are not supported inside a query.');
      return mapTable(node, visitor);
    case 'PIVOT':
      for (const pivot of listField(node, 'pivots')) {
        const type = textField(pivot, 'pivot_enum');
        if (type !== '')
          throw new QueryError('NOT_SUPPORTED', `PIVOT … IN ${type}: list the values, types cannot be used.`);
      }
      return mapTable(node, visitor);
    default:
      return mapTable(node, visitor);
  }
}

function isCommonTableExpression(node: JsonObject, scope: ReadonlySet<string>): boolean {
  if (textField(node, 'catalog_name') !== '') return false;
  const schema = textField(node, 'schema_name').toLowerCase();
  const table = textField(node, 'table_name').toLowerCase();
  if (!scope.has(schema === '' ? table : `${schema}\0${table}`) || (schema !== '' && schema !== 'recurring'))
    return false;
  // DuckDB would silently drop the clause.
  if (field(node, 'at_clause') !== null)
    throw new QueryError('NOT_SUPPORTED', `AT on ${table}: a common table expression has no history.`);
  return true;
}

import { QueryError } from '@svc/base';
import { type AstVisitor, mapExpression, mapTable } from '../ast/map.js';
import type { ParsedQuery } from '../ast/parsed-statement.js';
import { mapInScope } from '../ast/scoped-walk.js';
import { asArray, field, listField, objectField, textField } from '../json/access.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { type FileRead, fileReadOfCall, fileReadOfString } from './file-reads.js';
import { checkFunction, checkTableFunction, type GateProfile } from './function-gate.js';
import { volatileFunctions } from './function-lists.js';
import { statementValueFunctions, statementValueNames } from './statement-values.js';
import { checkTableName, readTableReference, StringTableNames, type TableReference } from './table-gate.js';
import { checkCast } from './type-gate.js';

/** What a statement refers to, all of it allowed by name. Nothing has been looked up or bound yet. */
export interface GatedQuery {
  /** Every distinct table, in the order of appearance. Each must be resolved before the engine sees the statement. */
  readonly tables: readonly TableReference[];
  /** Every distinct reading of files; only in the embedded profile. */
  readonly fileReads: readonly FileRead[];
  /** Lower-case names of the functions and operators in use, table functions included. */
  readonly functions: ReadonlySet<string>;
  /** Has random() or the like: runs on one node. */
  readonly hasVolatile: boolean;
  /** Has now(), current_user or the like, or a column that is called so: needs `statementValueMacros`. */
  readonly usesStatementValues: boolean;
  /** Has a column named as those of row lineage (`_row_id`, `_last_updated_sequence_number`). */
  readonly namesRowLineage: boolean;
  /** Lists columns without naming them: by a star, COLUMNS, or NATURAL JOIN. */
  readonly hasUnnamedColumns: boolean;
  /** Parameter identifiers in their order: "1", "2", … or names. */
  readonly parameters: readonly string[];
}

/**
 * Decides on a parsed query before anything is bound, since binding already runs table functions and folds constants.
 * Throws FUNCTION_NOT_ALLOWED, TABLE_REFERENCE_NOT_ALLOWED or NOT_SUPPORTED, naming the object; BINDING_ERROR for types.
 */
export function gate(parsed: ParsedQuery, profile: GateProfile): GatedQuery {
  const findings = new Findings(parsed.sql, profile);
  try {
    mapInScope(parsed.query, {
      baseTable: (node) => findings.addTable(node),
      commonTable: checkCommonTable,
      otherTable: (node, children) => walkTable(node, children, findings),
      expression: (node, children) => walkExpression(node, children, findings),
    });
  } catch (caught) {
    if (caught instanceof RangeError)
      throw new QueryError('STATEMENT_TOO_LARGE', 'The statement is nested too deeply; flatten it.', {
        cause: caught,
      });
    throw caught;
  }
  return findings.result(parameterNames(parsed.statement));
}

/** The parser counts parameters itself: a name is one parameter however it is cased, `?` is the next number. */
function parameterNames(statement: JsonObject): readonly string[] {
  return listField(statement, 'named_param_map')
    .map((entry) => ({
      name: textField(entry, 'key'),
      position: Number(stringifyJson(field(entry, 'value') ?? null)),
    }))
    .sort((a, b) => a.position - b.position)
    .map(({ name }) => name);
}

/** What the walk has found so far. */
class Findings {
  readonly profile: GateProfile;
  readonly #strings: StringTableNames;
  readonly #tables = new Map<string, TableReference>();
  readonly #fileReads = new Map<string, FileRead>();
  readonly #functions = new Set<string>();
  #usesStatementValues = false;
  #namesRowLineage = false;
  hasUnnamedColumns = false;

  constructor(sql: string, profile: GateProfile) {
    this.profile = profile;
    this.#strings = new StringTableNames(sql);
  }

  /** The AT clause is read, not walked: only constants and now() are taken there. */
  addTable(node: JsonObject): JsonObject {
    const reference = readTableReference(node);
    if (this.#strings.isString(node)) {
      if (this.profile !== 'embedded' || field(node, 'at_clause') !== null)
        throw new QueryError(
          'TABLE_REFERENCE_NOT_ALLOWED',
          `'${abbreviate(withoutSecrets(reference.table))}' is a string where a table belongs: files may not be read; ` +
            'a table name is written without quotes or in double quotes.',
        );
      this.addFileRead(fileReadOfString(reference.table));
      return node;
    }
    checkTableName(reference);
    this.#tables.set(tableKey(reference), reference);
    return node;
  }

  addFileRead(read: FileRead): void {
    this.#fileReads.set(read.key, read);
  }

  addFunction(name: string): void {
    this.#functions.add(name);
    this.#usesStatementValues ||= statementValueFunctions.has(name);
  }

  addColumnName(names: readonly JsonValue[]): void {
    const [name] = names;
    this.#namesRowLineage ||= names.some(
      (part) => typeof part === 'string' && rowLineageNames.has(part.toLowerCase()),
    );
    this.#usesStatementValues ||=
      names.length === 1 && typeof name === 'string' && statementValueNames.has(name.toLowerCase());
  }

  result(parameters: readonly string[]): GatedQuery {
    return {
      tables: [...this.#tables.values()],
      fileReads: [...this.#fileReads.values()],
      functions: this.#functions,
      hasVolatile: [...this.#functions].some((name) => volatileFunctions.has(name)),
      usesStatementValues: this.#usesStatementValues,
      namesRowLineage: this.#namesRowLineage,
      hasUnnamedColumns: this.hasUnnamedColumns,
      parameters,
    };
  }
}

/** Columns of tables that are read by name only. */
const rowLineageNames: ReadonlySet<string> = new Set(['_row_id', '_last_updated_sequence_number']);

/** A URL without the parts that may be secret. */
function withoutSecrets(text: string): string {
  if (!/^[a-z]+:\/\//i.test(text)) return text;
  return text.replace(/[?#].*$/s, '').replace(/^([a-z]+:\/\/)[^/]*@/i, '$1');
}

/** Identifies a reference: the same key is the same table at the same point in time. */
export function tableKey(reference: TableReference): string {
  const { catalog, schema, table, timeTravel } = reference;
  const point = timeTravel === undefined ? null : Object.values(timeTravel).map(String);
  return JSON.stringify([catalog ?? null, schema ?? null, table, point]);
}

function walkExpression(node: JsonObject, children: AstVisitor, findings: Findings): JsonObject {
  switch (textField(node, 'class')) {
    case 'FUNCTION':
    case 'WINDOW':
      findings.addFunction(checkFunction(node));
      break;
    case 'CAST':
      checkCast(node);
      break;
    case 'STAR':
      findings.hasUnnamedColumns = true;
      break;
    case 'COLUMN_REF':
      findings.addColumnName(asArray(field(node, 'column_names')));
      break;
  }
  return mapExpression(node, children);
}

function walkTable(node: JsonObject, children: AstVisitor, findings: Findings): JsonObject {
  switch (textField(node, 'type')) {
    case 'TABLE_FUNCTION': {
      const call = objectField(node, 'function');
      if (textField(call, 'class') !== 'FUNCTION')
        throw new QueryError('NOT_SUPPORTED', 'Only a function call may stand here in FROM.');
      findings.addFunction(checkTableFunction(call, findings.profile));
      const read = fileReadOfCall(node);
      if (read !== undefined) findings.addFileRead(read);
      return mapTable(node, { ...children, expression: () => mapExpression(call, children) });
    }
    case 'JOIN':
      findings.hasUnnamedColumns ||= textField(node, 'ref_type') === 'NATURAL';
      break;
    case 'SHOW_REF':
      if (textField(node, 'show_type') !== 'SUMMARY' || textField(node, 'table_name') !== '')
        throw new QueryError('NOT_SUPPORTED', 'SHOW and DESCRIBE are not supported inside a query.');
      break;
    case 'PIVOT':
      for (const pivot of listField(node, 'pivots')) {
        const type = textField(pivot, 'pivot_enum');
        if (type !== '')
          throw new QueryError(
            'NOT_SUPPORTED',
            `PIVOT … IN ${abbreviate(type)}: list the values, types cannot be used.`,
          );
      }
      break;
  }
  return mapTable(node, children);
}

/** DuckDB would silently drop an AT clause here. */
function checkCommonTable(node: JsonObject): JsonObject {
  if (field(node, 'at_clause') !== null)
    throw new QueryError(
      'NOT_SUPPORTED',
      `AT on ${abbreviate(textField(node, 'table_name'))}: a common table expression has no history.`,
    );
  return node;
}

/** What the SQL package makes of a text, printed on one line for the files of test data. */
import { QueryError } from '@svc/base';
import {
  classify,
  type GateProfile,
  gate,
  readSerializedSql,
  refusalOf,
  type Statement,
  type TableReference,
  tableKey,
} from '@svc/sql';
import { type DuckDbParser, quoteText } from './duckdb-parser.js';

/** `query tables=… functions=…` or `refused CODE: message`. Never throws for what a user could send. */
export function verdict(parser: DuckDbParser, sql: string, profile: GateProfile): string {
  try {
    return printStatement(parser, classify(sql), profile);
  } catch (caught) {
    if (!(caught instanceof QueryError)) throw caught;
    return `refused ${caught.code}: ${caught.message}`;
  }
}

function printStatement(parser: DuckDbParser, statement: Statement, profile: GateProfile): string {
  if (statement.kind === 'unsupported' || statement.kind === 'not-allowed')
    return `refused ${refusalOf(statement).code} as ${statement.statementType}: ${statement.feature}`;
  const { kind, statementType, ...details } = statement;
  const head = kind.replaceAll('-', '_') === statementType ? kind : `${kind} as ${statementType}`;
  const { sql, query, ...others } = { sql: undefined, query: undefined, ...details };
  const text = sql ?? query;
  if (text === undefined) return [head, ...printDetails(others)].join(' ');
  const serialized = parser.query(`SELECT json_serialize_sql(${quoteText(text)}::VARCHAR)`);
  const gated = gate(readSerializedSql(text, serialized), profile);
  const parts = {
    ...others,
    tables: gated.tables.map(printTable),
    files: gated.fileReads.flatMap((read) => read.paths),
    functions: [...gated.functions].sort(),
    parameters: gated.parameters,
    volatile: gated.hasVolatile,
    statementValues: gated.usesStatementValues,
    rowLineage: gated.namesRowLineage,
    unnamedColumns: gated.namesRowLineage && gated.hasUnnamedColumns,
  };
  return [head, ...printDetails(parts)].join(' ');
}

function printDetails(details: object): readonly string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return [];
    if (value === true) return [name];
    return [
      `${name}=${Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value)}`,
    ];
  });
}

/** Parts of the name as a JSON list when dots could be misread. */
function printTable(reference: TableReference): string {
  const parts = [reference.catalog, reference.schema, reference.table].filter((part) => part !== undefined);
  const name = parts.some((part) => !/^\w+$/.test(part)) ? JSON.stringify(parts) : parts.join('.');
  if (reference.timeTravel?.kind === 'expression') return `${name}@expression`;
  const point = (JSON.parse(tableKey(reference)) as unknown[])[3];
  return Array.isArray(point) ? `${name}@${point.join(':')}` : name;
}

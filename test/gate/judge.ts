/** What our own pipeline says of a text, up to where the planner would hand it to an engine. */
import { QueryError } from '@svc/base';
import {
  classify,
  type GatedQuery,
  gate,
  type ParsedQuery,
  readSerializedSql,
  rewriteTables,
  type Statement,
  writeSerializedSql,
} from '@svc/sql';
import { type DuckDbParser, quoteText } from '../sql/duckdb-parser.js';
import { catalogName, catalogTables, defaultSchema } from './world.js';

export type Judgement =
  /** With the code of our error. */
  | { readonly kind: 'refused'; readonly code: string }
  /** Something that the coordinator answers itself. */
  | { readonly kind: 'no query' }
  /** Passed the gate, but names what the catalog does not have. */
  | { readonly kind: 'no such table' }
  /** The engine gets this text. */
  | { readonly kind: 'passed'; readonly sql: string; readonly functions: ReadonlySet<string> }
  /** Fails otherwise than with an error for the user, or contradicts itself. */
  | { readonly kind: 'broken'; readonly why: string };

export function judge(parser: DuckDbParser, text: string): Judgement {
  try {
    const sql = queryText(classify(text));
    if (typeof sql !== 'string') return sql;
    const parsed = parse(parser, sql);
    const gated = gate(parsed, 'server');
    if (!gated.tables.every(isInCatalog)) return { kind: 'no such table' };
    if (gated.tables.every(({ timeTravel }) => timeTravel === undefined))
      return { kind: 'passed', sql, functions: gated.functions };
    return judgeRewritten(parser, parsed, gated);
  } catch (error) {
    if (error instanceof QueryError && error.category !== 'internal')
      return { kind: 'refused', code: error.code };
    return { kind: 'broken', why: String(error) };
  }
}

/** The query in a statement that holds one. */
function queryText(statement: Statement): string | Judgement {
  if (statement.kind === 'unsupported' || statement.kind === 'not-allowed')
    return { kind: 'refused', code: statement.kind };
  const { sql, query } = { sql: undefined, query: undefined, ...statement };
  return sql ?? query ?? { kind: 'no query' };
}

function parse(parser: DuckDbParser, sql: string): ParsedQuery {
  return readSerializedSql(sql, parser.query(`SELECT json_serialize_sql(${quoteText(sql)}::VARCHAR)`));
}

/** The text that the engine prints from a tree that we changed is a text that nobody gated: it has to be the same query. */
function judgeRewritten(parser: DuckDbParser, parsed: ParsedQuery, gated: GatedQuery): Judgement {
  const changed = writeSerializedSql(
    parsed,
    rewriteTables(parsed, () => undefined),
  );
  const sql = parser.query(`SELECT json_deserialize_sql(${quoteText(changed)}::JSON)`);
  const again = gate(parse(parser, sql), 'server');
  const names = (query: GatedQuery) => JSON.stringify([...new Set(query.tables.map(placeOf))].sort());
  if (names(again) !== names(gated)) return { kind: 'broken', why: `other tables after the rewrite: ${sql}` };
  return { kind: 'passed', sql, functions: gated.functions };
}

function placeOf({ catalog, schema, table }: GatedQuery['tables'][number]): string {
  return JSON.stringify([catalog ?? catalogName, schema ?? defaultSchema, table]).toLowerCase();
}

const places = new Set(catalogTables.map(({ schema, table }) => placeOf({ schema, table })));

function isInCatalog(reference: GatedQuery['tables'][number]): boolean {
  return places.has(placeOf(reference));
}

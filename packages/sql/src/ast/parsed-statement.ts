import { QueryError } from '@svc/base';
import { field, objectField, replaceField, textField } from '../json/access.js';
import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  type JsonObject,
  parseJson,
  stringifyJson,
} from '../json/lossless.js';
import { syntaxError } from '../text/tokenizer.js';

/** One query as DuckDB parsed it, and the text that it parsed. */
export interface ParsedQuery {
  readonly sql: string;
  /** The query node: SELECT_NODE, SET_OPERATION_NODE, … */
  readonly query: JsonObject;
  /** The statement that holds it, as `json_deserialize_sql` wants it back. */
  readonly statement: JsonObject;
}

/**
 * Longest answer of the parser that is read. The largest benchmark statements stay below a hundredth of it; reading this
 * much already holds up everything else in the process for a tenth of a second.
 */
const maxAnswerCharacters = 16 * 1024 * 1024;

/**
 * Reads the answer of `json_serialize_sql(sql)`. The parser's own errors become SYNTAX_ERROR with their place,
 * STATEMENT_TOO_LARGE and NOT_SUPPORTED. Exactly one statement is taken, whatever the text was thought to hold.
 */
export function readSerializedSql(sql: string, answer: string): ParsedQuery {
  if (answer.length > maxAnswerCharacters)
    throw new QueryError('STATEMENT_TOO_LARGE', 'The statement has too many parts; split it up.');
  const root = parseJson(answer);
  if (!isJsonObject(root)) throw new QueryError('INTERNAL_ERROR', 'The parser answered no object.');
  if (field(root, 'error') !== false) throw parserError(sql, root);
  const statements = field(root, 'statements');
  const statement = isJsonArray(statements) && statements.length === 1 ? statements[0] : undefined;
  if (!isJsonObject(statement))
    throw new QueryError('NOT_SUPPORTED', 'The text holds more than one statement; send one per call.');
  return { sql, query: objectField(statement, 'node'), statement };
}

/** The JSON for `json_deserialize_sql` of the query with its node replaced. */
export function writeSerializedSql(parsed: ParsedQuery, query: JsonObject): string {
  const statement = replaceField(parsed.statement, 'node', query);
  return stringifyJson({ error: false, statements: [statement] });
}

function parserError(sql: string, answer: JsonObject): QueryError {
  const message = textField(answer, 'error_message');
  if (/^memory exhausted|^Max expression depth/.test(message))
    return new QueryError('STATEMENT_TOO_LARGE', 'The statement is nested too deeply; flatten it.');
  if (textField(answer, 'error_type') === 'not implemented' || / not supported/i.test(message))
    return new QueryError(
      'NOT_SUPPORTED',
      message.startsWith('Only SELECT')
        ? 'Only queries can be run this way; PIVOT needs its values listed: PIVOT … ON column IN (…).'
        : `The statement is not supported: ${message}`,
    );
  if (message.startsWith('NameListToString'))
    return new QueryError(
      'SYNTAX_ERROR',
      'Syntax error: a table name has at most three parts: catalog.schema.table.',
    );
  const position = field(answer, 'position');
  const bytes = Number(position instanceof JsonNumber ? position.text : position);
  const problem = message === '' ? 'the text does not parse' : message.replace(/[!.]+$/, '');
  if (position === undefined || !Number.isSafeInteger(bytes))
    return new QueryError('SYNTAX_ERROR', `Syntax error: ${problem}.`);
  return syntaxError(sql, Buffer.from(sql).subarray(0, bytes).toString().length, problem);
}

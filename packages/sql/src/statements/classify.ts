import { tokenizeOneStatement } from '../text/split.js';
import { rewriteTimeTravel } from '../text/time-travel.js';
import { tokenize } from '../text/tokenizer.js';
import { parseCall } from './call.js';
import { Cursor } from './cursor.js';
import { classifyAlter, parseCreate, parseDrop } from './ddl.js';
import { parseDescribe } from './describe.js';
import { parseExplain } from './explain.js';
import { parseInsert } from './insert.js';
import { parseGrant, parseRevoke } from './policy.js';
import { parseQuery, seesQuery } from './query.js';
import { notAllowed, unsupported } from './refusals.js';
import { parseReset, parseSet, parseUse } from './session.js';
import { parseShow } from './show.js';
import type { RefusedStatement, Statement } from './statement.js';

/** One parser per statement; what is not here starts no statement. */
const parsers: Readonly<Record<string, (cursor: Cursor) => Statement>> = {
  SHOW: parseShow,
  DESCRIBE: parseDescribe,
  DESC: parseDescribe,
  EXPLAIN: parseExplain,
  USE: parseUse,
  SET: parseSet,
  RESET: parseReset,
  CALL: parseCall,
  CREATE: parseCreate,
  DROP: parseDrop,
  INSERT: parseInsert,
  ALTER: classifyAlter,
  GRANT: parseGrant,
  REVOKE: parseRevoke,
};

/** Known statements that need no closer look to be refused. */
const refused: Readonly<Record<string, RefusedStatement>> = {
  MERGE: unsupported('merge', 'MERGE'),
  UPDATE: unsupported('merge', 'UPDATE'),
  DELETE: unsupported('delete', 'DELETE'),
  REPLACE: unsupported('insert', 'REPLACE INTO'),
  UPSERT: unsupported('merge', 'UPSERT'),
  TRUNCATE: unsupported('delete', 'TRUNCATE'),
  COMMENT: unsupported('utility', 'COMMENT ON'),
  ANALYZE: unsupported('utility', 'ANALYZE'),
  OPTIMIZE: unsupported('utility', 'OPTIMIZE'),
  REFRESH: unsupported('utility', 'REFRESH'),
  SAVEPOINT: unsupported('utility', 'SAVEPOINT (transactions)'),
  RELEASE: unsupported('utility', 'RELEASE (transactions)'),
  BEGIN: unsupported('utility', 'BEGIN (transactions)'),
  START: unsupported('utility', 'START TRANSACTION (transactions)'),
  COMMIT: unsupported('utility', 'COMMIT (transactions)'),
  END: unsupported('utility', 'END (transactions)'),
  ROLLBACK: unsupported('utility', 'ROLLBACK (transactions)'),
  ABORT: unsupported('utility', 'ABORT (transactions)'),
  COPY: notAllowed('COPY'),
  ATTACH: notAllowed('ATTACH'),
  DETACH: notAllowed('DETACH'),
  INSTALL: notAllowed('INSTALL'),
  FORCE: notAllowed('FORCE INSTALL or FORCE CHECKPOINT'),
  LOAD: notAllowed('LOAD'),
  PRAGMA: notAllowed('PRAGMA'),
  EXPORT: notAllowed('EXPORT DATABASE'),
  IMPORT: notAllowed('IMPORT DATABASE'),
  CHECKPOINT: notAllowed('CHECKPOINT'),
  VACUUM: notAllowed('VACUUM'),
  PREPARE: notAllowed('PREPARE (prepare through the client instead)'),
  EXECUTE: notAllowed('EXECUTE (prepare through the client instead)'),
  DEALLOCATE: notAllowed('DEALLOCATE (prepare through the client instead)'),
};

/**
 * Classifies the one statement of a text. Throws SYNTAX_ERROR (with its place), STATEMENT_TOO_LARGE, and NOT_SUPPORTED
 * when there are several statements. What may not run is an answer, not an error, so that it can be counted by type:
 * see `refusalOf`.
 */
export function classify(text: string): Statement {
  const written = tokenizeOneStatement(text);
  const rewrite = rewriteTimeTravel(written);
  const cursor = new Cursor(rewrite.changes.length === 0 ? written : tokenize(rewrite.sql));
  if (seesQuery(cursor)) return parseQuery(cursor);
  const verb = cursor.words(1);
  const parser = Object.hasOwn(parsers, verb) ? parsers[verb] : undefined;
  if (parser !== undefined) return parser(cursor);
  const refusal = Object.hasOwn(refused, verb) ? refused[verb] : undefined;
  if (refusal !== undefined) return refusal;
  throw cursor.error('no statement starts like this');
}

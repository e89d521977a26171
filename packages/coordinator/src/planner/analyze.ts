/**
 * From SQL text to a classified, parsed and gated statement. Nothing here depends on the user or on the catalog, so
 * the answers are kept: a dashboard sends the same texts again and again.
 */
import { QueryError } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import {
  classify,
  type GatedQuery,
  type GateProfile,
  gate,
  type ParsedQuery,
  readSerializedSql,
  refusalOf,
  type Statement,
} from '@svc/sql';
import { LRUCache } from 'lru-cache';

export interface AnalyzedQuery {
  readonly parsed: ParsedQuery;
  readonly gated: GatedQuery;
}

export interface Analyzer {
  /** Throws SYNTAX_ERROR, STATEMENT_TOO_LARGE, NOT_SUPPORTED. A refused kind is an answer, so that it can be counted. */
  classify(sql: string): Statement;
  /** Parses and gates one query text. Throws what the gate throws. */
  analyze(sql: string, owner: string, signal: AbortSignal): Promise<AnalyzedQuery>;
  /** The same for the text of a view, which never reads files: its readers are others than its maker. */
  analyzeView(sql: string, owner: string, signal: AbortSignal): Promise<AnalyzedQuery>;
}

export interface AnalyzerOptions {
  readonly pool: EnginePool;
  readonly maxSqlBytes: number;
  readonly profile: GateProfile;
}

/** Bounded by what the parser answers, which can be many times the text; a large statement is parsed each time. */
const cacheLimits = { max: 256, maxSize: 16 * 2 ** 20, maxEntrySize: 2 ** 20 };

/** Classifying takes microseconds, but each call of a statement's life asks anew. In characters of text. */
const statementCacheLimits = { max: 256, maxSize: 2 ** 20, maxEntrySize: 2 ** 16 };

export function createAnalyzer({ pool, maxSqlBytes, profile }: AnalyzerOptions): Analyzer {
  const queries = new LRUCache<string, AnalyzedQuery>(cacheLimits);
  const statements = new LRUCache<string, Statement>(statementCacheLimits);
  const analyze = async (
    sql: string,
    { gateProfile, owner, signal }: { gateProfile: GateProfile; owner: string; signal: AbortSignal },
  ): Promise<AnalyzedQuery> => {
    const key = `${gateProfile} ${sql}`;
    const known = queries.get(key);
    if (known !== undefined) return known;
    const lease = await pool.lease({ owner, lane: 'small', signal });
    let text: string;
    try {
      text = await lease.queryText('SELECT json_serialize_sql($1::VARCHAR)', [sql], signal);
    } finally {
      await lease.release();
    }
    const parsed = readSerializedSql(sql, text);
    const analyzed: AnalyzedQuery = { parsed, gated: gate(parsed, gateProfile) };
    queries.set(key, analyzed, { size: sql.length + text.length });
    return analyzed;
  };
  return {
    classify(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const bytes = Buffer.byteLength(sql);
      if (bytes > maxSqlBytes) {
        throw new QueryError(
          'STATEMENT_TOO_LARGE',
          `The statement has ${bytes} bytes; at most ${maxSqlBytes} are taken (query.max_sql_bytes).`,
        );
      }
      const statement = classify(sql);
      statements.set(sql, statement, { size: sql.length + 1 });
      return statement;
    },
    analyze: (sql, owner, signal) => analyze(sql, { gateProfile: profile, owner, signal }),
    analyzeView: (sql, owner, signal) => analyze(sql, { gateProfile: 'server', owner, signal }),
  };
}

/** Throws for statements that this version does not run, or never runs. */
export function throwIfRefused(
  statement: Statement,
): asserts statement is Exclude<Statement, { kind: 'unsupported' | 'not-allowed' }> {
  if (statement.kind === 'unsupported' || statement.kind === 'not-allowed') throw refusalOf(statement);
}

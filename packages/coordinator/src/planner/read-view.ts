/** The query of a view, in the dialect that is read best. */
import { QueryError } from '@svc/base';
import { engineType } from '@svc/fragment-fn';
import { type LoadedView, sqlOfView, viewDialect } from '@svc/lake';
import {
  checkForeignQuery,
  type ForeignDialect,
  type ForeignQuery,
  quoteIdentifier,
  textOfDialect,
} from '@svc/sql';
import type { AnalyzedQuery, Analyzer } from './analyze.js';

export interface ReadView {
  readonly query: AnalyzedQuery;
  /** What the view answers, of its query's text for the engine. */
  readonly answer: (sql: string) => string;
}

export interface ReadViewOptions {
  readonly analyzer: Analyzer;
  readonly view: LoadedView;
  /** For messages. */
  readonly name: string;
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** Those of other engines, the one that is read sooner first. */
const foreignDialects: readonly ForeignDialect[] = ['trino', 'spark'];

/** Throws what analysing the text throws; NOT_SUPPORTED naming the dialect of a text that cannot be taken. */
export async function readView(options: ReadViewOptions): Promise<ReadView> {
  const { analyzer, view, name, owner, signal } = options;
  const { metadata } = view;
  const sql = sqlOfView(metadata, viewDialect);
  if (sql !== undefined)
    return { query: await analyzer.analyzeView(sql, owner, signal), answer: (text) => text };
  let refusal: QueryError | undefined;
  for (const dialect of foreignDialects) {
    const text = sqlOfView(metadata, dialect);
    if (text === undefined) continue;
    try {
      return await readForeignView(text, dialect, options);
    } catch (error) {
      if (!(error instanceof QueryError) || error.category !== 'user' || error.code === 'CANCELLED')
        throw error;
      refusal ??= new QueryError(
        'NOT_SUPPORTED',
        `The view ${name} is written for ${dialect} and cannot be read here. ${error.message}`,
        { cause: error },
      );
    }
  }
  if (refusal !== undefined) throw refusal;
  const dialects = metadata.currentVersion.representations.map(({ dialect }) => dialect);
  throw new QueryError(
    'NOT_SUPPORTED',
    `The view ${name} is written for ${dialects.join(', ') || 'nobody'}; the dialects ${[viewDialect, ...foreignDialects].join(', ')} are read.`,
  );
}

async function readForeignView(
  sql: string,
  dialect: ForeignDialect,
  { analyzer, view, owner, signal }: ReadViewOptions,
): Promise<ReadView> {
  const query = await analyzer.analyzeView(textOfDialect(sql, dialect), owner, signal);
  const foreign = checkForeignQuery(query.parsed, dialect);
  const { fields } = view.metadata.schema;
  if (foreign.columnCount !== undefined && foreign.columnCount !== fields.length)
    throw new QueryError(
      'NOT_SUPPORTED',
      `It answers ${foreign.columnCount} columns, but ${fields.length} were recorded.`,
    );
  return { query, answer: (text) => recordedColumns(text, view, foreign) };
}

/**
 * The columns with the names and types that were recorded when the view was made, as its own engine answers them: by
 * place, but of `*` by name, since its tables may have other columns now.
 */
function recordedColumns(sql: string, { metadata }: LoadedView, { hasStar }: ForeignQuery): string {
  const { fields } = metadata.schema;
  const names = fields.map(({ name }, index) => quoteIdentifier(hasStar ? name : `column ${index}`));
  const list = fields.map(({ name, type }, index) => {
    const value = `v.${names[index]}`;
    const typed = type.kind === 'unsupported' ? value : `CAST(${value} AS ${engineType(type)})`;
    return `${typed} AS ${quoteIdentifier(name)}`;
  });
  return `SELECT ${list.join(', ')} FROM (${sql}) AS v${hasStar ? '' : `(${names.join(', ')})`}`;
}

import type { WriteStatement } from './ddl-statements.js';
import type { PolicyStatement } from './policy-statements.js';

/** The statement types that metrics and the audit log count (interface specification, section 1.8). */
export type StatementType =
  | 'query'
  | 'ctas'
  | 'insert'
  | 'merge'
  | 'delete'
  | 'drop'
  | 'create_view'
  | 'create_schema'
  | 'show_catalogs'
  | 'show_schemas'
  | 'show_tables'
  | 'policy'
  | 'utility';

/**
 * One classified statement. Texts in `sql` are what DuckDB's parser is given (time travel already rewritten); names are
 * as written, without quotes, and still to be resolved.
 */
export type Statement =
  | { readonly kind: 'query'; readonly statementType: 'query'; readonly sql: string }
  | ShowCatalogs
  | ShowSchemas
  | ShowTables
  | {
      readonly kind: 'describe-table';
      readonly statementType: 'utility';
      /** One to three parts: [[catalog.]schema.]table. */
      readonly name: readonly string[];
    }
  | {
      readonly kind: 'show-columns';
      readonly statementType: 'utility';
      readonly name: readonly string[];
      readonly like?: LikePattern;
    }
  | { readonly kind: 'show-create'; readonly statementType: 'utility'; readonly name: readonly string[] }
  | { readonly kind: 'describe-query'; readonly statementType: 'utility'; readonly sql: string }
  | {
      readonly kind: 'explain';
      readonly statementType: 'utility';
      readonly analyze: boolean;
      /** The query to explain. */
      readonly sql: string;
    }
  | {
      readonly kind: 'use';
      readonly statementType: 'utility';
      /** One part is a schema of the current catalog or else a catalog; two are catalog and schema. */
      readonly name: readonly string[];
    }
  | {
      readonly kind: 'set';
      readonly statementType: 'utility';
      /** `timezone` or `svc.<option>`, lower case. */
      readonly name: string;
      readonly value: string;
    }
  | { readonly kind: 'reset'; readonly statementType: 'utility'; readonly name: string }
  | { readonly kind: 'call'; readonly statementType: 'utility'; readonly procedure: 'refresh_catalog_cache' }
  | WriteStatement
  | PolicyStatement
  | RefusedStatement;

export interface ShowCatalogs {
  readonly kind: 'show-catalogs';
  readonly statementType: 'show_catalogs';
  /** What they were called, which names the column of the answer. */
  readonly word: 'catalog' | 'database';
  readonly like?: LikePattern;
}

export interface ShowSchemas {
  readonly kind: 'show-schemas';
  readonly statementType: 'show_schemas';
  readonly catalog?: string;
  readonly like?: LikePattern;
}

export interface ShowTables {
  readonly kind: 'show-tables';
  readonly statementType: 'show_tables';
  readonly catalog?: string;
  readonly schema?: string;
  readonly like?: LikePattern;
}

/** `%` any text, `_` any character, the escape character makes the next one ordinary. */
export interface LikePattern {
  readonly pattern: string;
  readonly escape?: string;
}

/** `unsupported` is known but not run by this version; `not-allowed` is never run for a user. */
export interface RefusedStatement {
  readonly kind: 'unsupported' | 'not-allowed';
  readonly statementType: StatementType;
  /** What to name in the error: `CREATE TABLE`, `COPY`, … */
  readonly feature: string;
}

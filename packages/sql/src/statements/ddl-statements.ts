import type { DeclaredType } from './column-type.js';
import type { StatementType } from './statement.js';

/** `[[catalog.]schema.]name` as written, without quotes. */
export type WrittenParts = readonly string[];
export type Properties = readonly (readonly [key: string, value: string])[];

/** Statements that make, fill and drop tables, views and schemas. Embedded queries are for the engine's parser. */
export type WriteStatement =
  | CreateSchema
  | DropObject<'drop-schema'>
  | DropObject<'drop-table'>
  | DropObject<'drop-view'>
  | CreateTable
  | CreateView
  | Insert;

export interface Insert {
  readonly kind: 'insert';
  readonly statementType: 'insert';
  readonly name: WrittenParts;
  /** Undefined: all columns of the table, in its order. */
  readonly columns: readonly string[] | undefined;
  /** BY NAME: the columns of the query go to those of their names. */
  readonly byName: boolean;
  readonly query: string;
}

export interface CreateSchema {
  readonly kind: 'create-schema';
  readonly statementType: 'create_schema';
  readonly name: WrittenParts;
  readonly ifNotExists: boolean;
  readonly properties: Properties;
}

export type DropKind = 'drop-schema' | 'drop-table' | 'drop-view';

export interface DropObject<Kind extends DropKind = DropKind> {
  readonly kind: Kind;
  readonly statementType: 'drop';
  readonly name: WrittenParts;
  readonly ifExists: boolean;
  /** Of tables: data files go too, and at once. */
  readonly purge: boolean;
}

export interface CreateTable {
  readonly kind: 'create-table';
  readonly statementType: Extract<StatementType, 'ctas'>;
  readonly name: WrittenParts;
  readonly ifNotExists: boolean;
  readonly orReplace: boolean;
  /** Empty where a query says what the columns are. */
  readonly columns: readonly DeclaredColumn[];
  readonly partitioning: readonly PartitionTransform[];
  readonly properties: Properties;
  readonly comment: string | undefined;
  /** CREATE TABLE … AS. */
  readonly query: string | undefined;
}

export interface CreateView {
  readonly kind: 'create-view';
  readonly statementType: 'create_view';
  readonly name: WrittenParts;
  readonly ifNotExists: boolean;
  readonly orReplace: boolean;
  /** Names that replace those of the query, with their comments; empty: the query's own. */
  readonly columns: readonly { readonly name: string; readonly comment: string | undefined }[];
  readonly properties: Properties;
  readonly comment: string | undefined;
  readonly query: string;
}

export interface DeclaredColumn {
  readonly name: string;
  readonly type: DeclaredType;
  readonly isRequired: boolean;
  readonly comment: string | undefined;
}

/** A transform of a column, by Iceberg's names. */
export type PartitionTransform = { readonly column: string } & (
  | { readonly kind: 'identity' | 'year' | 'month' | 'day' | 'hour' | 'void' }
  | { readonly kind: 'bucket'; readonly count: number }
  | { readonly kind: 'truncate'; readonly width: number }
);

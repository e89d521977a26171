/** Iceberg's types (table specification, "Schemas and Data Types"), as read-only data. */
import type { JsonValue } from './lossless-json.js';

export type PrimitiveTypeName =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'binary'
  | 'unknown';

export type PrimitiveType =
  | { readonly kind: PrimitiveTypeName }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly length: number }
  /** A type of format 3 or later that this version keeps by its text and refuses to read: variant, geometry(…), geography(…). */
  | { readonly kind: 'unsupported'; readonly text: string };

export interface NestedField {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: IcebergType;
  readonly doc?: string;
  /** Format version 3: the value of rows written before the field existed, in its single-value JSON form. */
  readonly initialDefault?: JsonValue;
  readonly writeDefault?: JsonValue;
}

export interface StructType {
  readonly kind: 'struct';
  readonly fields: readonly NestedField[];
}

export interface ListType {
  readonly kind: 'list';
  readonly elementId: number;
  readonly elementRequired: boolean;
  readonly element: IcebergType;
}

export interface MapType {
  readonly kind: 'map';
  readonly keyId: number;
  readonly key: IcebergType;
  readonly valueId: number;
  readonly valueRequired: boolean;
  readonly value: IcebergType;
}

export type IcebergType = PrimitiveType | StructType | ListType | MapType;

export interface Schema {
  readonly schemaId: number;
  readonly fields: readonly NestedField[];
  readonly identifierFieldIds: readonly number[];
}

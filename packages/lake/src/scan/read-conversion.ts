/** How the engine's Parquet reader types a physical column, and what makes the table's type of it. */

import type { PrimitiveType } from '../iceberg/spec/types.js';
import type { LogicalType } from '../parquet/logical-type.js';
import type { ParquetLeaf } from '../parquet/schema.js';
import type { ColumnConversion } from './table-scan.js';

export interface ReadConversion {
  readonly isExactType: boolean;
  readonly conversion?: ColumnConversion;
}

const exact: ReadConversion = { isExactType: true };
const cast: ReadConversion = { isExactType: false };
const decodeUtf8: ReadConversion = { isExactType: false, conversion: 'decode-utf8' };
const atUtc: ReadConversion = { isExactType: false, conversion: 'at-utc' };

/**
 * `undefined` when the file's type cannot be that of the column: neither the same nor one that was promoted to it
 * (table specification, "Schema Evolution").
 */
export function readConversion(type: PrimitiveType, leaf: ParquetLeaf): ReadConversion | undefined {
  const { logical, physical } = leaf;
  switch (type.kind) {
    case 'boolean':
      return physical === 'BOOLEAN' ? exact : undefined;
    case 'int':
      return isIntegerOf(leaf, 32) ? (isPlain(logical, 32) ? exact : cast) : undefined;
    case 'long':
      if (!isIntegerOf(leaf, 64)) return undefined;
      return physical === 'INT64' && isPlain(logical, 64) ? exact : cast;
    case 'float':
      return physical === 'FLOAT' ? exact : undefined;
    case 'double':
      return physical === 'DOUBLE' ? exact : physical === 'FLOAT' ? cast : undefined;
    case 'decimal':
      if (logical?.kind !== 'decimal' || logical.scale !== type.scale) return undefined;
      return logical.precision === type.precision ? exact : cast;
    case 'date':
      return logical?.kind === 'date' ? exact : undefined;
    case 'time':
      return logical?.kind === 'time' ? exact : undefined;
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return readTimestamp(type.kind, leaf);
    case 'string':
      return physical === 'BYTE_ARRAY' ? readText(logical) : undefined;
    case 'uuid':
      if (physical !== 'FIXED_LEN_BYTE_ARRAY' || leaf.typeLength !== 16) return undefined;
      return logical?.kind === 'uuid' ? exact : logical === undefined ? cast : undefined;
    case 'fixed':
      return physical === 'FIXED_LEN_BYTE_ARRAY' && leaf.typeLength === type.length && logical === undefined
        ? exact
        : undefined;
    case 'binary':
      return (physical === 'BYTE_ARRAY' || physical === 'FIXED_LEN_BYTE_ARRAY') && logical === undefined
        ? exact
        : undefined;
    case 'unknown':
    case 'unsupported':
      return undefined;
  }
}

function isIntegerOf(leaf: ParquetLeaf, maxBits: 32 | 64): boolean {
  if (leaf.physical !== 'INT32' && (leaf.physical !== 'INT64' || maxBits === 32)) return false;
  return leaf.logical === undefined || leaf.logical.kind === 'integer';
}

function isPlain(logical: LogicalType | undefined, bits: number): boolean {
  return (
    logical === undefined || (logical.kind === 'integer' && logical.isSigned && logical.bitWidth === bits)
  );
}

function readText(logical: LogicalType | undefined): ReadConversion | undefined {
  if (logical === undefined) return decodeUtf8;
  if (logical.kind === 'json') return cast;
  return logical.kind === 'string' || logical.kind === 'enum' ? exact : undefined;
}

/** Converted types and INT96 know no zone: the engine reads them as local times, which are meant in UTC. */
function readTimestamp(
  kind: 'timestamp' | 'timestamptz' | 'timestamp_ns' | 'timestamptz_ns',
  { logical, physical }: ParquetLeaf,
): ReadConversion | undefined {
  if (logical?.kind === 'date') return kind === 'timestamptz' || kind === 'timestamptz_ns' ? undefined : cast;
  if (logical?.kind !== 'timestamp' && physical !== 'INT96') return undefined;
  const time = logical?.kind === 'timestamp' ? logical : undefined;
  const isInstant = time?.isAdjustedToUtc === true && !time.fromConvertedType;
  const isNanos = time?.unit === 'nanos' && !isInstant;
  switch (kind) {
    case 'timestamp':
      return isInstant ? atUtc : isNanos ? cast : exact;
    case 'timestamp_ns':
      return isInstant ? atUtc : isNanos ? exact : cast;
    case 'timestamptz':
    case 'timestamptz_ns':
      return isInstant ? exact : atUtc;
  }
}

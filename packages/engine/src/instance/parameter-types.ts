/** DuckDB types of parameters, by the Arrow types that clients send. */
import { QueryError } from '@svc/base';
import type { DecodedArray } from '../arrow/decoded-array.js';
import type { ArrowType, TimestampType } from '../arrow/types.js';
import type { DuckDbFunctions } from '../capi/functions.js';
import { duckDbType, withType } from '../capi/logical-type.js';
import { type Address, addressOf } from '../capi/memory.js';
import { addressList, bytesOf } from './arrow-options.js';

/** `duckdb_type` of the Arrow types whose DuckDB type has no parameters. */
const typeIds = {
  bool: 1,
  int8: 2,
  int16: 3,
  int32: 4,
  int64: 5,
  uint8: 6,
  uint16: 7,
  uint32: 8,
  uint64: 9,
  float: 10,
  double: 11,
  timestamp: 12,
  date: 13,
  time: 14,
  interval: 15,
  blob: 18,
  timestampS: 20,
  timestampMs: 21,
  timestampNs: 22,
  timestampTz: 31,
  timeNs: 39,
} as const;

/** The DuckDB type of an array's values; the caller destroys it. */
export function createType(functions: DuckDbFunctions, array: DecodedArray): Address {
  const { type } = array.field;
  switch (type.kind) {
    case 'decimal':
      if (type.precision > 38) throw unsupportedParameter(array);
      return functions.createDecimalType(type.precision, type.scale);
    case 'list':
    case 'fixedList': {
      const child = array.children[0];
      if (child === undefined) throw unsupportedParameter(array);
      return withType(functions, createType(functions, child), (element) =>
        functions.createListType(element),
      );
    }
    case 'struct':
      return createStructType(functions, array);
    case 'map':
    case 'union':
      throw unsupportedParameter(array);
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'utf8':
    case 'binary':
    case 'fixedBinary':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
    case 'interval':
      return functions.createLogicalType(plainTypeId(type));
  }
}

function createStructType(functions: DuckDbFunctions, array: DecodedArray): Address {
  const names = array.children.map((child) => bytesOf(`${child.field.name.replaceAll('\0', '')}\0`));
  const types: Address[] = [];
  try {
    for (const child of array.children) types.push(createType(functions, child));
    return functions.createStructType(addressList(types), addressList(names.map(addressOf)), types.length);
  } finally {
    for (const type of types) functions.destroyLogicalType([type]);
    // Referred to by address only: emptied here, so that the texts live up to here.
    names.length = 0;
  }
}

function plainTypeId(type: ArrowType): number {
  switch (type.kind) {
    case 'bool':
      return typeIds.bool;
    case 'int':
      return typeIds[`${type.signed ? 'int' : 'uint'}${type.bits}`];
    case 'float':
      return type.bits === 64 ? typeIds.double : typeIds.float;
    case 'utf8':
      return duckDbType.varchar;
    case 'binary':
    case 'fixedBinary':
      return typeIds.blob;
    case 'date':
      return typeIds.date;
    case 'time':
      return type.unit === 'nanosecond' ? typeIds.timeNs : typeIds.time;
    case 'timestamp':
      return timestampTypeId(type);
    case 'duration':
    case 'interval':
      return typeIds.interval;
    case 'null':
    case 'decimal':
    case 'list':
    case 'fixedList':
    case 'struct':
    case 'map':
    case 'union':
      return duckDbType.sqlNull;
  }
}

function timestampTypeId(type: TimestampType): number {
  if (type.timezone !== undefined) return typeIds.timestampTz;
  switch (type.unit) {
    case 'second':
      return typeIds.timestampS;
    case 'millisecond':
      return typeIds.timestampMs;
    case 'microsecond':
      return typeIds.timestamp;
    case 'nanosecond':
      return typeIds.timestampNs;
  }
}

/** A type that no parameter can have. */
export function unsupportedParameter(array: DecodedArray): QueryError {
  const { type } = array.field;
  const what = type.kind === 'decimal' ? `a decimal of ${type.precision} digits` : `of type ${type.kind}`;
  return new QueryError(
    'INVALID_PARAMETER',
    `Parameter "${array.field.name}" is ${what}, which cannot be bound; send text and cast it.`,
  );
}

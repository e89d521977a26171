/** One row of a checked Arrow array → a value of the engine, of the DuckDB type that the Arrow type stands for. */
import { QueryError } from '@svc/base';
import { type DecodedArray, integerAt, isValid, offsetAt } from '../arrow/decoded-array.js';
import type {
  DecimalType,
  FloatType,
  IntervalType,
  IntType,
  TimestampType,
  TimeType,
  TimeUnit,
} from '../arrow/types.js';
import type { DuckDbFunctions } from '../capi/functions.js';
import { withType } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import { addressList } from './arrow-options.js';
import { createType, unsupportedParameter } from './parameter-types.js';

/** The caller destroys the value. Throws INVALID_PARAMETER for types that no parameter can have. */
export function createValue(functions: DuckDbFunctions, array: DecodedArray, row: number): Address {
  if (!isValid(array, row)) return functions.createNull();
  if (array.dictionary !== undefined)
    return createValue(functions, array.dictionary, Number(integerAt(array, row)));
  const { type } = array.field;
  switch (type.kind) {
    case 'null':
      return functions.createNull();
    case 'bool':
      return functions.createBool((((array.buffers[0]?.[row >> 3] ?? 0) >> (row & 7)) & 1) === 1);
    case 'int':
      return createInteger(functions, type, integerAt(array, row));
    case 'float':
      return createFloat(functions, type, viewOf(array), row);
    case 'decimal':
      return createDecimal(functions, array, type, row);
    case 'utf8': {
      const bytes = variableBytes(array, row);
      return functions.createText(bytes, bytes.byteLength - 1);
    }
    case 'binary': {
      const bytes = variableBytes(array, row);
      return functions.createBlob(bytes, bytes.byteLength - 1);
    }
    case 'fixedBinary': {
      const bytes = ownBytes(array.buffers[0], row * type.width, (row + 1) * type.width);
      return functions.createBlob(bytes, type.width);
    }
    case 'date':
      return functions.createDate(
        type.unit === 'day'
          ? viewOf(array).getInt32(row * 4, true)
          : Number(floorDivide(viewOf(array).getBigInt64(row * 8, true), 86_400_000n)),
      );
    case 'time':
      return createTime(functions, type, viewOf(array), row);
    case 'timestamp':
      return createTimestamp(functions, type, viewOf(array).getBigInt64(row * 8, true));
    case 'duration': {
      const micros = toMicroseconds(viewOf(array).getBigInt64(row * 8, true), type.unit);
      return functions.createInterval({ months: 0, days: 0, micros });
    }
    case 'interval':
      return createInterval(functions, type, viewOf(array), row);
    case 'list':
    case 'fixedList':
      return createList(functions, array, row);
    case 'struct':
      return createStruct(functions, array, row);
    case 'map':
    case 'union':
      throw unsupportedParameter(array);
  }
}

function createInteger(functions: DuckDbFunctions, type: IntType, value: bigint): Address {
  switch (type.bits) {
    case 8:
      return type.signed ? functions.createInt8(Number(value)) : functions.createUint8(Number(value));
    case 16:
      return type.signed ? functions.createInt16(Number(value)) : functions.createUint16(Number(value));
    case 32:
      return type.signed ? functions.createInt32(Number(value)) : functions.createUint32(Number(value));
    case 64:
      return type.signed ? functions.createInt64(value) : functions.createUint64(value);
  }
}

function createFloat(functions: DuckDbFunctions, type: FloatType, view: DataView, row: number): Address {
  switch (type.bits) {
    case 16:
      return functions.createFloat(halfToNumber(view.getUint16(row * 2, true)));
    case 32:
      return functions.createFloat(view.getFloat32(row * 4, true));
    case 64:
      return functions.createDouble(view.getFloat64(row * 8, true));
  }
}

function createDecimal(
  functions: DuckDbFunctions,
  array: DecodedArray,
  type: DecimalType,
  row: number,
): Address {
  if (type.precision > 38) throw unsupportedParameter(array);
  const value = wideInteger(viewOf(array), row * (type.bits / 8), type.bits);
  if (value <= -(10n ** BigInt(type.precision)) || value >= 10n ** BigInt(type.precision))
    throw new QueryError(
      'INVALID_PARAMETER',
      `Parameter "${array.field.name}" has more than ${type.precision} digits.`,
    );
  return functions.createDecimal({
    width: type.precision,
    scale: type.scale,
    lower: BigInt.asUintN(64, value),
    upper: value >> 64n,
  });
}

function createTime(functions: DuckDbFunctions, type: TimeType, view: DataView, row: number): Address {
  const isShort = type.unit === 'second' || type.unit === 'millisecond';
  const value = isShort ? BigInt(view.getInt32(row * 4, true)) : view.getBigInt64(row * 8, true);
  if (type.unit === 'nanosecond') return functions.createTimeNs(value);
  return functions.createTime(toMicroseconds(value, type.unit));
}

function createTimestamp(functions: DuckDbFunctions, type: TimestampType, value: bigint): Address {
  // The engine has one type with zone, in microseconds.
  if (type.timezone !== undefined) return functions.createTimestampTz(toMicroseconds(value, type.unit));
  switch (type.unit) {
    case 'second':
      return functions.createTimestampS(value);
    case 'millisecond':
      return functions.createTimestampMs(value);
    case 'microsecond':
      return functions.createTimestamp(value);
    case 'nanosecond':
      return functions.createTimestampNs(value);
  }
}

function createInterval(
  functions: DuckDbFunctions,
  type: IntervalType,
  view: DataView,
  row: number,
): Address {
  switch (type.unit) {
    case 'yearMonth':
      return functions.createInterval({ months: view.getInt32(row * 4, true), days: 0, micros: 0n });
    case 'dayTime':
      return functions.createInterval({
        months: 0,
        days: view.getInt32(row * 8, true),
        micros: BigInt(view.getInt32(row * 8 + 4, true)) * 1000n,
      });
    case 'monthDayNano':
      return functions.createInterval({
        months: view.getInt32(row * 16, true),
        days: view.getInt32(row * 16 + 4, true),
        micros: view.getBigInt64(row * 16 + 8, true) / 1000n,
      });
  }
}

function createList(functions: DuckDbFunctions, array: DecodedArray, row: number): Address {
  const child = array.children[0];
  const { type } = array.field;
  if (child === undefined) throw unsupportedParameter(array);
  const start = type.kind === 'fixedList' ? row * type.size : offsetAt(array, row);
  const end = type.kind === 'fixedList' ? start + type.size : offsetAt(array, row + 1);
  const rows = Array.from({ length: end - start }, (_, index) => start + index);
  return withType(functions, createType(functions, child), (elementType) =>
    withValues(
      functions,
      rows.map((index) => () => createValue(functions, child, index)),
      (values) => functions.createList(elementType, addressList(values), values.length),
    ),
  );
}

function createStruct(functions: DuckDbFunctions, array: DecodedArray, row: number): Address {
  return withType(functions, createType(functions, array), (type) =>
    withValues(
      functions,
      array.children.map((child) => () => createValue(functions, child, row)),
      (values) => functions.createStruct(type, addressList(values)),
    ),
  );
}

/** Creates values, uses them, and destroys them whatever happens. */
function withValues(
  functions: DuckDbFunctions,
  creators: readonly (() => Address)[],
  use: (values: readonly Address[]) => Address,
): Address {
  const values: Address[] = [];
  try {
    for (const create of creators) values.push(create());
    return use(values);
  } finally {
    for (const value of values) functions.destroyValue([value]);
  }
}

function viewOf(array: DecodedArray): DataView {
  const bytes = array.buffers[0];
  if (bytes === undefined) throw unsupportedParameter(array);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of a row, with one byte more, because the engine must not be given the address of nothing. */
function variableBytes(array: DecodedArray, row: number): Uint8Array {
  return ownBytes(array.buffers[1], offsetAt(array, row), offsetAt(array, row + 1));
}

function ownBytes(bytes: Uint8Array | undefined, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(new ArrayBuffer(end - start + 1));
  if (bytes !== undefined) copy.set(bytes.subarray(start, end));
  return copy;
}

function wideInteger(view: DataView, offset: number, bits: 32 | 64 | 128 | 256): bigint {
  if (bits === 32) return BigInt(view.getInt32(offset, true));
  let value = view.getBigInt64(offset + bits / 8 - 8, true);
  for (let at = offset + bits / 8 - 16; at >= offset; at -= 8)
    value = (value << 64n) | view.getBigUint64(at, true);
  return value;
}

function toMicroseconds(value: bigint, unit: TimeUnit): bigint {
  const micros = scaleToMicroseconds(value, unit);
  if (BigInt.asIntN(64, micros) !== micros)
    throw new QueryError('INVALID_PARAMETER', 'A time parameter is out of range.');
  return micros;
}

function scaleToMicroseconds(value: bigint, unit: TimeUnit): bigint {
  switch (unit) {
    case 'second':
      return value * 1_000_000n;
    case 'millisecond':
      return value * 1000n;
    case 'microsecond':
      return value;
    case 'nanosecond':
      return floorDivide(value, 1000n);
  }
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/** IEEE 754 binary16. */
function halfToNumber(half: number): number {
  const sign = (half & 0x8000) === 0 ? 1 : -1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

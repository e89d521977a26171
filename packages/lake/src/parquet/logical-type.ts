import { type CompactReader, wireType } from './thrift/compact-reader.js';

export type TimeUnit = 'millis' | 'micros' | 'nanos';

/**
 * What a physical value means (Parquet format, "Logical Types"). The newer annotation wins over the converted type;
 * `fromConvertedType` on times says that only the older one is there, which knows no "without time zone".
 */
export type LogicalType =
  | { readonly kind: 'string' | 'enum' | 'json' | 'bson' | 'uuid' | 'date' | 'float16' | 'interval' }
  | { readonly kind: 'list' | 'map' | 'null' | 'variant' | 'geometry' | 'geography' | 'other' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'integer'; readonly bitWidth: number; readonly isSigned: boolean }
  | {
      readonly kind: 'time' | 'timestamp';
      readonly unit: TimeUnit;
      readonly isAdjustedToUtc: boolean;
      readonly fromConvertedType: boolean;
    };

const units: ReadonlyMap<number, TimeUnit> = new Map([
  [1, 'millis'],
  [2, 'micros'],
  [3, 'nanos'],
]);

const plainKinds: ReadonlyMap<number, LogicalType> = new Map<number, LogicalType>([
  [1, { kind: 'string' }],
  [2, { kind: 'map' }],
  [3, { kind: 'list' }],
  [4, { kind: 'enum' }],
  [6, { kind: 'date' }],
  [11, { kind: 'null' }],
  [12, { kind: 'json' }],
  [13, { kind: 'bson' }],
  [14, { kind: 'uuid' }],
  [15, { kind: 'float16' }],
  [16, { kind: 'variant' }],
  [17, { kind: 'geometry' }],
  [18, { kind: 'geography' }],
]);

/** Reads the `LogicalType` union. A member that this version does not know is `other`: nothing is assumed of it. */
export function readLogicalType(reader: CompactReader): LogicalType {
  let result: LogicalType = { kind: 'other' };
  reader.fields((id, type) => {
    reader.expect(type, wireType.struct, 'a logical type');
    switch (id) {
      case 5:
        result = readDecimal(reader);
        return true;
      case 7:
      case 8:
        result = readTime(reader, id === 7 ? 'time' : 'timestamp');
        return true;
      case 10:
        result = readInteger(reader);
        return true;
      default:
        result = plainKinds.get(id) ?? { kind: 'other' };
        return false;
    }
  });
  return result;
}

function readDecimal(reader: CompactReader): LogicalType {
  let scale = 0;
  let precision = 0;
  reader.fields((id, type) => {
    if (type !== wireType.i32) return false;
    if (id === 1) scale = reader.integer();
    else if (id === 2) precision = reader.integer();
    else return false;
    return true;
  });
  return { kind: 'decimal', precision, scale };
}

function readTime(reader: CompactReader, kind: 'time' | 'timestamp'): LogicalType {
  let isAdjustedToUtc = false;
  let unit: TimeUnit | undefined;
  reader.fields((id, type) => {
    if (id === 1) isAdjustedToUtc = type === wireType.true;
    if (id !== 2 || type !== wireType.struct) return false;
    reader.fields((unitId) => {
      unit = units.get(unitId);
      return false;
    });
    return true;
  });
  return unit === undefined ? { kind: 'other' } : { kind, unit, isAdjustedToUtc, fromConvertedType: false };
}

function readInteger(reader: CompactReader): LogicalType {
  let bitWidth = 0;
  let isSigned = false;
  reader.fields((id, type) => {
    if (id === 1 && type === wireType.byte) {
      bitWidth = reader.byte();
      return true;
    }
    if (id === 2) isSigned = type === wireType.true;
    return false;
  });
  return { kind: 'integer', bitWidth, isSigned };
}

/** The meaning of an older `ConvertedType`; its times are always adjusted to UTC. */
export function logicalTypeOfConverted(
  converted: number,
  precision: number,
  scale: number,
): LogicalType | undefined {
  switch (converted) {
    case 0:
      return { kind: 'string' };
    case 1:
    case 2:
      return { kind: 'map' };
    case 3:
      return { kind: 'list' };
    case 4:
      return { kind: 'enum' };
    case 5:
      return { kind: 'decimal', precision, scale };
    case 6:
      return { kind: 'date' };
    case 7:
      return { kind: 'time', unit: 'millis', isAdjustedToUtc: true, fromConvertedType: true };
    case 8:
      return { kind: 'time', unit: 'micros', isAdjustedToUtc: true, fromConvertedType: true };
    case 9:
      return { kind: 'timestamp', unit: 'millis', isAdjustedToUtc: true, fromConvertedType: true };
    case 10:
      return { kind: 'timestamp', unit: 'micros', isAdjustedToUtc: true, fromConvertedType: true };
    case 19:
      return { kind: 'json' };
    case 20:
      return { kind: 'bson' };
    case 21:
      return { kind: 'interval' };
    default:
      if (converted >= 11 && converted <= 18)
        return { kind: 'integer', bitWidth: 8 << ((converted - 11) % 4), isSigned: converted >= 15 };
      return undefined;
  }
}

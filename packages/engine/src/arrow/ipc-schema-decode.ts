/** Schema messages of the Arrow IPC format (format/Schema.fbs) → fields. Input is untrusted. */
import { type FlatTable, malformed, maxNesting } from './flatbuffer-read.js';
import type { ArrowField, ArrowSchema, ArrowType, IntType, TimeUnit } from './types.js';

const timeUnits: readonly TimeUnit[] = ['second', 'millisecond', 'microsecond', 'nanosecond'];
const maxFields = 20_000;

/** Throws INVALID_ARGUMENT on what is damaged, and on types and byte orders that are not supported. */
export function decodeSchema(table: FlatTable): ArrowSchema {
  if (table.int16(0, 0) !== 0) throw malformed('big-endian data is not supported');
  const budget = { fields: maxFields };
  return {
    fields: table.tables(1).map((field) => decodeField(field, 0, budget)),
    metadata: decodeMetadata(table.tables(2)),
  };
}

function decodeField(table: FlatTable, depth: number, budget: { fields: number }): ArrowField {
  if (depth > maxNesting) throw malformed(`types are nested deeper than ${maxNesting}`);
  budget.fields -= 1;
  if (budget.fields < 0) throw malformed(`there are more than ${maxFields} fields`);
  const name = table.text(0) ?? '';
  const type = decodeType(table, name);
  const children = table.tables(5).map((child) => decodeField(child, depth + 1, budget));
  const expected = childCountOf(type);
  if (
    expected === undefined
      ? type.kind === 'union' && children.length !== type.typeIds.length
      : children.length !== expected
  )
    throw malformed(`field "${name}" has ${children.length} children`);
  return {
    name,
    nullable: table.int8(1, 0) !== 0,
    type,
    children,
    dictionary: decodeDictionary(table.table(4), name),
    metadata: decodeMetadata(table.tables(6)),
  };
}

/** Undefined where any number is right. */
function childCountOf(type: ArrowType): number | undefined {
  switch (type.kind) {
    case 'struct':
    case 'union':
      return undefined;
    case 'list':
    case 'fixedList':
    case 'map':
      return 1;
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'decimal':
    case 'utf8':
    case 'binary':
    case 'fixedBinary':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
    case 'interval':
      return 0;
  }
}

function decodeDictionary(table: FlatTable | undefined, name: string): ArrowField['dictionary'] {
  if (table === undefined) return undefined;
  const index = table.table(1);
  const indexType: ArrowType =
    index === undefined ? { kind: 'int', bits: 32, signed: true } : decodeInt(index, name);
  if (indexType.kind !== 'int') throw malformed(`field "${name}" has no integer dictionary index`);
  return { id: table.int64(0, 0n), indexType, ordered: table.int8(2, 0) !== 0 };
}

function decodeMetadata(pairs: readonly FlatTable[]): ReadonlyMap<string, string> {
  return new Map(pairs.map((pair) => [pair.text(0) ?? '', pair.text(1) ?? '']));
}

function decodeInt(table: FlatTable, name: string): IntType {
  const bits = table.int32(0, 0);
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64)
    throw malformed(`field "${name}" is an integer of ${bits} bits`);
  return { kind: 'int', bits, signed: table.int8(1, 0) !== 0 };
}

function decodeType(field: FlatTable, name: string): ArrowType {
  const kind = field.int8(2, 0);
  const table = field.table(3);
  if (table === undefined) throw malformed(`field "${name}" has no type`);
  switch (kind) {
    case 1:
      return { kind: 'null' };
    case 2:
      return decodeInt(table, name);
    case 3: {
      const bits = ([16, 32, 64] as const)[table.int16(0, 0)];
      if (bits === undefined) throw malformed(`field "${name}" has an unknown float precision`);
      return { kind: 'float', bits };
    }
    case 4:
    case 19:
      return { kind: 'binary', large: kind === 19 };
    case 5:
    case 20:
      return { kind: 'utf8', large: kind === 20 };
    case 6:
      return { kind: 'bool' };
    case 7:
      return decodeDecimal(table, name);
    case 8:
      return { kind: 'date', unit: table.int16(0, 1) === 0 ? 'day' : 'millisecond' };
    case 9: {
      const unit = unitOf(table.int16(0, 1), name);
      const expected = unit === 'second' || unit === 'millisecond' ? 32 : 64;
      if (table.int32(1, 32) !== expected) throw malformed(`field "${name}" is a time of a wrong width`);
      return { kind: 'time', unit };
    }
    case 10:
      return { kind: 'timestamp', unit: unitOf(table.int16(0, 0), name), timezone: table.text(1) };
    case 11: {
      const unit = (['yearMonth', 'dayTime', 'monthDayNano'] as const)[table.int16(0, 0)];
      if (unit === undefined) throw malformed(`field "${name}" has an unknown interval unit`);
      return { kind: 'interval', unit };
    }
    case 12:
    case 21:
      return { kind: 'list', large: kind === 21 };
    case 13:
      return { kind: 'struct' };
    case 14:
      return decodeUnion(table, field, name);
    case 15:
      return { kind: 'fixedBinary', width: sizeOf(table.int32(0, 0), name) };
    case 16:
      return { kind: 'fixedList', size: sizeOf(table.int32(0, 0), name) };
    case 17:
      return { kind: 'map', keysSorted: table.int8(0, 0) !== 0 };
    case 18:
      return { kind: 'duration', unit: unitOf(table.int16(0, 1), name) };
    default:
      throw malformed(`field "${name}" has the type number ${kind}, which is not supported`);
  }
}

function decodeDecimal(table: FlatTable, name: string): ArrowType {
  const precision = table.int32(0, 0);
  const scale = table.int32(1, 0);
  const bits = table.int32(2, 128);
  if (bits !== 32 && bits !== 64 && bits !== 128 && bits !== 256)
    throw malformed(`field "${name}" is a decimal of ${bits} bits`);
  if (precision < 1 || precision > 76 || scale < 0 || scale > precision)
    throw malformed(`field "${name}" is a decimal(${precision}, ${scale})`);
  return { kind: 'decimal', precision, scale, bits };
}

function decodeUnion(table: FlatTable, field: FlatTable, name: string): ArrowType {
  const mode = table.int16(0, 0) === 0 ? 'sparse' : 'dense';
  const given = table.int32s(1);
  const typeIds = table.has(1) ? given : field.tables(5).map((_, index) => index);
  if (typeIds.some((id) => id < 0 || id > 127) || new Set(typeIds).size !== typeIds.length)
    throw malformed(`field "${name}" has wrong union ids`);
  return { kind: 'union', mode, typeIds };
}

function unitOf(value: number, name: string): TimeUnit {
  const unit = timeUnits[value];
  if (unit === undefined) throw malformed(`field "${name}" has an unknown time unit`);
  return unit;
}

function sizeOf(value: number, name: string): number {
  if (value < 1 || value > 1 << 24) throw malformed(`field "${name}" has the size ${value}`);
  return value;
}

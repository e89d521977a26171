/**
 * The values of an Arrow column as text, read from its buffers: apache-arrow's own values are JavaScript numbers and
 * dates, which lose digits.
 */
import { isAscii } from 'node:buffer';
import {
  type Data,
  DataType,
  DateUnit,
  IntervalUnit,
  Precision,
  type TimeUnit,
  type UnionMode,
} from 'apache-arrow';
import { intervalText } from './interval-text.js';
import { isoDate, isoTime, isoTimestamp, zoneOffsets } from './iso-time.js';
import { decimalText, doubleText, floatText } from './number-text.js';

export interface ColumnText {
  /** Whether text stands by itself in JSON: numbers, booleans and nested values, which are JSON already. */
  readonly isJson: boolean;
  /** Undefined for NULL. Nested values are JSON. */
  text(row: number): string | undefined;
}

export interface ColumnTextOptions {
  /** Between date and time. */
  readonly separator: 'T' | ' ';
}

/** How the values of a column are read. The data is a whole column of a batch, never a slice of one. */
export function columnText(data: Data, options: ColumnTextOptions): ColumnText {
  const reader = scalarText(data, options) ?? nestedText(data, options);
  if (data.nullCount === 0 && !DataType.isUnion(data.type)) return reader;
  if (DataType.isNull(data.type)) return { isJson: reader.isJson, text: () => undefined };
  return {
    isJson: reader.isJson,
    text: (row) => (data.getValid(row) ? reader.text(row) : undefined),
  };
}

/** A value of any column in JSON. Numbers that JSON does not have (NaN, Infinity) are strings. */
export function jsonText({ isJson, text }: ColumnText, row: number): string {
  const value = text(row);
  if (value === undefined) return 'null';
  if (!isJson || value === 'NaN' || value === 'Infinity' || value === '-Infinity')
    return JSON.stringify(value);
  return value;
}

function plain(text: (row: number) => string): ColumnText {
  return { isJson: false, text };
}

function json(text: (row: number) => string): ColumnText {
  return { isJson: true, text };
}

function scalarText(data: Data, { separator }: ColumnTextOptions): ColumnText | undefined {
  const { type, values } = data;
  if (DataType.isNull(type)) return json(() => 'null');
  if (DataType.isBool(type)) return json((row) => (isBitSet(values, row) ? 'true' : 'false'));
  if (DataType.isInt(type)) return json((row) => String(values[row]));
  if (DataType.isFloat(type)) {
    const write = type.precision === Precision.DOUBLE ? doubleText : floatText;
    return json((row) => write(values[row]));
  }
  if (DataType.isDecimal(type)) {
    const { scale } = type;
    return json((row) => decimalText(values, row, scale));
  }
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return utf8Text(data);
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    return plain((row) => bytes.toString('hex', offset(data, row), offset(data, row + 1)));
  }
  if (DataType.isFixedSizeBinary(type)) {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const width = type.byteWidth;
    return plain((row) => bytes.toString('hex', row * width, (row + 1) * width));
  }
  return temporalText(data, separator);
}

function utf8Text(data: Data): ColumnText {
  const { values } = data;
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  if (!isAscii(bytes))
    return plain((row) => bytes.toString('utf8', offset(data, row), offset(data, row + 1)));
  // One text of the whole column, and parts of it, are several times as fast as a call per value.
  const whole = bytes.toString('latin1');
  return plain((row) => whole.slice(offset(data, row), offset(data, row + 1)));
}

function temporalText({ type, values }: Data, separator: 'T' | ' '): ColumnText | undefined {
  if (DataType.isDate(type)) {
    if (type.unit === DateUnit.DAY) return plain((row) => isoDate(Number(values[row])));
    return plain((row) => isoDate(Math.floor(Number(values[row]) / 86_400_000)));
  }
  if (DataType.isTime(type)) {
    const unit: TimeUnit = type.unit;
    return plain((row) => isoTime(BigInt(values[row]), unit));
  }
  if (DataType.isTimestamp(type)) {
    const { unit } = type;
    const offsetAt = type.timezone ? zoneOffsets(type.timezone) : undefined;
    return plain((row) => isoTimestamp(values[row], unit, separator, offsetAt));
  }
  if (DataType.isInterval(type) && type.unit === IntervalUnit.MONTH_DAY_NANO)
    return plain((row) => intervalText(values, row));
  return undefined;
}

function nestedText(data: Data, options: ColumnTextOptions): ColumnText {
  const { type } = data;
  const children = () => data.children.map((child) => columnText(child, { separator: 'T' }));
  if (DataType.isDictionary(type)) {
    const [values] = data.dictionary?.data ?? [];
    if (values === undefined) return plain(() => '');
    const read = columnText(values, options);
    return { isJson: read.isJson, text: (row) => read.text(Number(data.values[row])) };
  }
  if (DataType.isMap(type)) return mapText(data, options);
  if (DataType.isList(type) || DataType.isLargeList(type)) {
    const [items] = children();
    return json((row) => listText(items, offset(data, row), offset(data, row + 1)));
  }
  if (DataType.isFixedSizeList(type)) {
    const [items] = children();
    const size = type.listSize;
    return json((row) => listText(items, row * size, (row + 1) * size));
  }
  if (DataType.isStruct(type)) {
    const names = type.children.map((field) => JSON.stringify(field.name));
    const members = children();
    return json(
      (row) => `{${members.map((member, index) => `${names[index]}:${jsonText(member, row)}`).join(',')}}`,
    );
  }
  if (DataType.isUnion(type)) return unionText(data, children());
  return plain(() => `(a value of the type ${String(type)}, which is not shown)`);
}

/** An object; keys that are not text are written as the text of their JSON. */
function mapText(data: Data, options: ColumnTextOptions): ColumnText {
  const [entries] = data.children;
  const [keyData, valueData] = entries?.children ?? [];
  if (keyData === undefined || valueData === undefined) return json(() => '{}');
  const key = columnText(keyData, options);
  const value = columnText(valueData, { separator: 'T' });
  return json((row) => {
    const members: string[] = [];
    for (let index = offset(data, row); index < offset(data, row + 1); index++)
      members.push(`${JSON.stringify(key.text(index) ?? 'null')}:${jsonText(value, index)}`);
    return `{${members.join(',')}}`;
  });
}

function listText(items: ColumnText | undefined, from: number, to: number): string {
  const texts: string[] = [];
  for (let index = from; index < to; index++)
    texts.push(items === undefined ? 'null' : jsonText(items, index));
  return `[${texts.join(',')}]`;
}

/** The value alone: what member it is shows in its type only. */
function unionText(data: Data, members: readonly ColumnText[]): ColumnText {
  const { type, typeIds, valueOffsets } = data;
  if (!DataType.isUnion(type)) return json(() => 'null');
  const isDense = type.mode === (1 satisfies UnionMode);
  const positions = new Map([...type.typeIds].map((id, index) => [id, index]));
  return json((row) => {
    const member = members[positions.get(typeIds[row] ?? -1) ?? -1];
    return member === undefined ? 'null' : jsonText(member, isDense ? (valueOffsets[row] ?? 0) : row);
  });
}

function offset(data: Data, row: number): number {
  return Number(data.valueOffsets[row]);
}

function isBitSet(bits: Uint8Array, row: number): boolean {
  return (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}

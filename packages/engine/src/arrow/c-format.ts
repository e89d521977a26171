/** Format strings of the Arrow C data interface, in both directions. */
import { QueryError } from '@svc/base';
import type { ArrowType, TimeUnit } from './types.js';

const simpleFormats: ReadonlyMap<string, ArrowType> = new Map([
  ['n', { kind: 'null' }],
  ['b', { kind: 'bool' }],
  ['c', { kind: 'int', bits: 8, signed: true }],
  ['C', { kind: 'int', bits: 8, signed: false }],
  ['s', { kind: 'int', bits: 16, signed: true }],
  ['S', { kind: 'int', bits: 16, signed: false }],
  ['i', { kind: 'int', bits: 32, signed: true }],
  ['I', { kind: 'int', bits: 32, signed: false }],
  ['l', { kind: 'int', bits: 64, signed: true }],
  ['L', { kind: 'int', bits: 64, signed: false }],
  ['e', { kind: 'float', bits: 16 }],
  ['f', { kind: 'float', bits: 32 }],
  ['g', { kind: 'float', bits: 64 }],
  ['u', { kind: 'utf8', large: false }],
  ['U', { kind: 'utf8', large: true }],
  ['z', { kind: 'binary', large: false }],
  ['Z', { kind: 'binary', large: true }],
  ['tdD', { kind: 'date', unit: 'day' }],
  ['tdm', { kind: 'date', unit: 'millisecond' }],
  ['tiM', { kind: 'interval', unit: 'yearMonth' }],
  ['tiD', { kind: 'interval', unit: 'dayTime' }],
  ['tin', { kind: 'interval', unit: 'monthDayNano' }],
  ['+l', { kind: 'list', large: false }],
  ['+L', { kind: 'list', large: true }],
  ['+s', { kind: 'struct' }],
] satisfies [string, ArrowType][]);

const unitLetters: Readonly<Record<TimeUnit, string>> = {
  second: 's',
  millisecond: 'm',
  microsecond: 'u',
  nanosecond: 'n',
};
const units = new Map(Object.entries(unitLetters).map(([unit, letter]) => [letter, unit as TimeUnit]));

/** `mapKeysSorted` is a flag of the schema, not of the format. Throws INTERNAL_ERROR on a format we never ask for. */
export function typeOfFormat(format: string, mapKeysSorted: boolean): ArrowType {
  const simple = simpleFormats.get(format);
  if (simple !== undefined) return simple;
  if (format === '+m') return { kind: 'map', keysSorted: mapKeysSorted };
  const [head = '', ...rest] = format.split(':');
  const tail = rest.join(':');
  const unit = units.get(head.at(2) ?? '');
  if (/^tt[smun]$/.test(head) && unit !== undefined) return { kind: 'time', unit };
  if (/^tD[smun]$/.test(head) && unit !== undefined) return { kind: 'duration', unit };
  if (/^ts[smun]$/.test(head) && unit !== undefined)
    return { kind: 'timestamp', unit, timezone: tail === '' ? undefined : tail };
  if (head === 'd') return decimalOfFormat(tail);
  if (head === 'w') return { kind: 'fixedBinary', width: Number(tail) };
  if (head === '+w') return { kind: 'fixedList', size: Number(tail) };
  if (head === '+us' || head === '+ud')
    return {
      kind: 'union',
      mode: head === '+us' ? 'sparse' : 'dense',
      typeIds: tail === '' ? [] : tail.split(',').map(Number),
    };
  throw new QueryError('INTERNAL_ERROR', `The engine answered the unknown Arrow format "${format}".`);
}

function decimalOfFormat(parameters: string): ArrowType {
  const [precision = 0, scale = 0, bits = 128] = parameters.split(',').map(Number);
  if (bits !== 32 && bits !== 64 && bits !== 128 && bits !== 256)
    throw new QueryError('INTERNAL_ERROR', `The engine answered a decimal of ${bits} bits.`);
  return { kind: 'decimal', precision, scale, bits };
}

/** The format string of a type. */
export function formatOfType(type: ArrowType): string {
  switch (type.kind) {
    case 'decimal':
      return `d:${type.precision},${type.scale}${type.bits === 128 ? '' : `,${type.bits}`}`;
    case 'fixedBinary':
      return `w:${type.width}`;
    case 'time':
      return `tt${unitLetters[type.unit]}`;
    case 'duration':
      return `tD${unitLetters[type.unit]}`;
    case 'timestamp':
      return `ts${unitLetters[type.unit]}:${type.timezone ?? ''}`;
    case 'fixedList':
      return `+w:${type.size}`;
    case 'map':
      return '+m';
    case 'union':
      return `+u${type.mode === 'sparse' ? 's' : 'd'}:${type.typeIds.join(',')}`;
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'utf8':
    case 'binary':
    case 'date':
    case 'interval':
    case 'list':
    case 'struct':
      return simpleFormat(type);
  }
}

function simpleFormat(type: ArrowType): string {
  const wanted = JSON.stringify(type, Object.keys(type).sort());
  for (const [format, candidate] of simpleFormats)
    if (JSON.stringify(candidate, Object.keys(candidate).sort()) === wanted) return format;
  throw new QueryError('INTERNAL_ERROR', `An Arrow type without a format: ${type.kind}.`);
}

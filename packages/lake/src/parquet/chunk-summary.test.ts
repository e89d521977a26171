import assert from 'node:assert/strict';
import { test } from 'node:test';
import { predicateMightHold } from '../iceberg/expressions/column-predicate.js';
import type { PrimitiveType } from '../iceberg/spec/types.js';
import { type Comparable, compareValues } from '../iceberg/spec/values.js';
import { summariseChunk } from './chunk-summary.js';
import type { ChunkStatistics, ColumnChunk } from './column-chunk.js';
import { seededRandom } from './fakes/memory-store.js';
import type { LogicalType } from './logical-type.js';
import { encodePlain } from './plain-value.js';
import type { ParquetLeaf, PhysicalType } from './schema.js';

function leafOf(physical: PhysicalType, logical?: LogicalType, typeLength = 0): ParquetLeaf {
  return {
    kind: 'leaf',
    name: 'c',
    repetition: 'optional',
    fieldId: 1,
    logical,
    physical,
    typeLength,
    column: 0,
  };
}

function chunkOf(statistics: Partial<ChunkStatistics>, valueCount = 10): ColumnChunk {
  return {
    start: 4,
    end: 100,
    dataPageStart: 4,
    dictionaryPageStart: undefined,
    uncompressedBytes: 96,
    codec: 0,
    encodings: [],
    valueCount,
    bloomFilterStart: undefined,
    bloomFilterBytes: undefined,
    statistics: {
      min: undefined,
      max: undefined,
      isMinExact: undefined,
      isMaxExact: undefined,
      deprecatedMin: undefined,
      deprecatedMax: undefined,
      nullCount: undefined,
      nanCount: undefined,
      ...statistics,
    },
  };
}

function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function int64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

function double(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

function boundsOf(
  type: PrimitiveType,
  leaf: ParquetLeaf,
  statistics: Partial<ChunkStatistics>,
  isOrdered = true,
) {
  const { lower, upper } = summariseChunk(type, leaf, chunkOf(statistics), isOrdered);
  return [lower, upper].map((bound) =>
    typeof bound === 'object' ? Buffer.from(bound).toString('hex') : bound,
  );
}

const timestamp = (unit: 'millis' | 'micros' | 'nanos'): LogicalType => ({
  kind: 'timestamp',
  unit,
  isAdjustedToUtc: true,
  fromConvertedType: false,
});

test('bounds are read in the table column’s own values, promoted where the file is older', () => {
  const decimal: LogicalType = { kind: 'decimal', precision: 5, scale: 2 };
  const cases: [PrimitiveType, ParquetLeaf, Uint8Array, Uint8Array, unknown[]][] = [
    [{ kind: 'long' }, leafOf('INT32'), int32(-5), int32(7), [-5n, 7n]],
    [
      { kind: 'long' },
      leafOf('INT32', { kind: 'integer', bitWidth: 32, isSigned: false }),
      int32(1),
      int32(-1),
      [1n, 4294967295n],
    ],
    [{ kind: 'double' }, leafOf('DOUBLE'), double(-1), double(2), [-1, 2]],
    [{ kind: 'date' }, leafOf('INT32', { kind: 'date' }), int32(-1), int32(1), [-1n, 1n]],
    [
      { kind: 'timestamp' },
      leafOf('INT32', { kind: 'date' }),
      int32(-1),
      int32(1),
      [-86_400_000_000n, 86_400_000_000n],
    ],
    [{ kind: 'timestamptz' }, leafOf('INT64', timestamp('millis')), int64(-1n), int64(1n), [-1000n, 1000n]],
    [{ kind: 'timestamptz' }, leafOf('INT64', timestamp('nanos')), int64(-1n), int64(1001n), [-1n, 2n]],
    [{ kind: 'timestamptz_ns' }, leafOf('INT64', timestamp('micros')), int64(1n), int64(2n), [1000n, 2000n]],
    [
      { kind: 'decimal', precision: 9, scale: 2 },
      leafOf('INT32', decimal),
      int32(-125),
      int32(125),
      [-125n, 125n],
    ],
    [
      { kind: 'decimal', precision: 9, scale: 2 },
      leafOf('FIXED_LEN_BYTE_ARRAY', decimal, 3),
      Buffer.from('ffff83', 'hex'),
      Buffer.from('00007d', 'hex'),
      [-125n, 125n],
    ],
    [
      { kind: 'string' },
      leafOf('BYTE_ARRAY', { kind: 'string' }),
      Buffer.from('a'),
      Buffer.from('é'),
      ['61', 'c3a9'],
    ],
    [{ kind: 'boolean' }, leafOf('BOOLEAN'), Uint8Array.of(0), Uint8Array.of(1), [0, 1]],
  ];
  for (const [type, leaf, min, max, expected] of cases)
    assert.deepEqual(boundsOf(type, leaf, { min, max }), expected, `${type.kind} from ${leaf.physical}`);
});

test('bounds that are malformed, contradictory, NaN or of another type are unknown', () => {
  const unknown = [undefined, undefined];
  assert.deepEqual(boundsOf({ kind: 'int' }, leafOf('INT32'), { min: int64(1n), max: int64(2n) }), unknown);
  assert.deepEqual(boundsOf({ kind: 'int' }, leafOf('INT32'), { min: int32(2), max: int32(1) }), unknown);
  assert.deepEqual(
    boundsOf({ kind: 'double' }, leafOf('DOUBLE'), { min: double(Number.NaN), max: double(1) }),
    unknown,
  );
  assert.deepEqual(boundsOf({ kind: 'date' }, leafOf('INT32'), { min: int32(1), max: int32(2) }), unknown);
  assert.deepEqual(
    boundsOf({ kind: 'timestamp' }, leafOf('INT96'), { min: new Uint8Array(12), max: new Uint8Array(12) }),
    unknown,
  );
  const otherScale = leafOf('INT32', { kind: 'decimal', precision: 9, scale: 3 });
  assert.deepEqual(
    boundsOf({ kind: 'decimal', precision: 9, scale: 2 }, otherScale, { min: int32(1), max: int32(2) }),
    unknown,
  );
  const cut = leafOf('BYTE_ARRAY', { kind: 'decimal', precision: 20, scale: 2 });
  const inexact = { min: Uint8Array.of(1), max: Uint8Array.of(2), isMinExact: false, isMaxExact: false };
  assert.deepEqual(boundsOf({ kind: 'decimal', precision: 20, scale: 2 }, cut, inexact), unknown);
});

test('values without the format’s order, and the older pair of unsigned and text columns, are unknown', () => {
  const old = { deprecatedMin: int32(1), deprecatedMax: int32(2) };
  assert.deepEqual(
    boundsOf({ kind: 'int' }, leafOf('INT32'), { min: int32(5), max: int32(6), ...old }, false),
    [1n, 2n],
  );
  assert.deepEqual(boundsOf({ kind: 'int' }, leafOf('INT32'), old), [1n, 2n]);
  const unsigned = leafOf('INT32', { kind: 'integer', bitWidth: 32, isSigned: false });
  assert.deepEqual(boundsOf({ kind: 'long' }, unsigned, old), [undefined, undefined]);
  assert.deepEqual(boundsOf({ kind: 'string' }, leafOf('BYTE_ARRAY', { kind: 'string' }), old), [
    undefined,
    undefined,
  ]);
});

test('nulls, NaN and empty columns are only excluded when the writer counted them', () => {
  const summary = (statistics: Partial<ChunkStatistics>) => {
    const { mayHaveNull, mayHaveNaN, mayHaveValue } = summariseChunk(
      { kind: 'double' },
      leafOf('DOUBLE'),
      chunkOf(statistics),
      true,
    );
    return [mayHaveNull, mayHaveNaN, mayHaveValue];
  };
  assert.deepEqual(summary({}), [true, true, true]);
  assert.deepEqual(summary({ nullCount: 0, nanCount: 0 }), [false, false, true]);
  assert.deepEqual(summary({ nullCount: 10 }), [true, true, false]);
});

test('no value that a predicate keeps is ever outside of what the statistics say', () => {
  const seed = 7;
  const random = seededRandom(seed);
  const whole = (limit: number) => Math.floor((random() - 0.5) * 2 * limit);
  const text = () =>
    Buffer.from(Array.from({ length: Math.floor(random() * 4) }, () => 97 + Math.floor(random() * 3)));
  const columns: [PrimitiveType, ParquetLeaf, () => Comparable][] = [
    [{ kind: 'int' }, leafOf('INT32'), () => whole(20)],
    [{ kind: 'long' }, leafOf('INT64'), () => BigInt(whole(20)) * 2n ** 57n],
    [
      { kind: 'double' },
      leafOf('DOUBLE'),
      () => [whole(5) / 2, -0, 0, Number.POSITIVE_INFINITY][Math.floor(random() * 4)] ?? 0,
    ],
    [
      { kind: 'decimal', precision: 9, scale: 2 },
      leafOf('FIXED_LEN_BYTE_ARRAY', { kind: 'decimal', precision: 9, scale: 2 }, 4),
      () => BigInt(whole(300)),
    ],
    [{ kind: 'timestamp' }, leafOf('INT64', timestamp('millis')), () => BigInt(whole(10)) * 1000n],
    [{ kind: 'string' }, leafOf('BYTE_ARRAY', { kind: 'string' }), text],
  ];
  const operators = ['=', '<>', '<', '<=', '>', '>='] as const;
  for (let round = 0; round < 3000; round++) {
    const [type, leaf, next] = columns[round % columns.length] ?? columns[0] ?? assert.fail();
    const values = Array.from({ length: 1 + Math.floor(random() * 4) }, next).sort(compareValues);
    const encode = (value: Comparable | undefined) =>
      value === undefined ? undefined : encodePlain(type, leaf, value)?.[0];
    const chunk = chunkOf(
      { min: encode(values[0]), max: encode(values.at(-1)), nullCount: 0 },
      values.length,
    );
    const summary = summariseChunk(type, leaf, chunk, true);
    const literal = next();
    const operator = operators[Math.floor(random() * 6)] ?? '=';
    const isKept = values.some((value) => compares(operator, compareValues(value, literal)));
    const mightHold = predicateMightHold({ kind: 'compare', operator, value: literal }, summary);
    assert.ok(
      mightHold || !isKept,
      `seed ${seed}, round ${round}: ${type.kind} ${operator} ${String(literal)} of ${values.join()}`,
    );
  }
});

function compares(operator: string, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

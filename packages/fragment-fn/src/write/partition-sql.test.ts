/** Transforms in SQL against the same transforms in TypeScript, which the specification's own vectors have tested. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import {
  applyTransform,
  type PrimitiveType,
  type PrimitiveValue,
  parseTransform,
  transformResultType,
} from '@svc/lake';
import { openTestPool, type TestPool } from '../test-support/test-pool.js';
import { engineType } from '../views/engine-type.js';
import { partitionSql, partitionValue } from './partition-sql.js';

let engine: TestPool;
let lease: EngineLease;
before(async () => {
  engine = await openTestPool();
  lease = await engine.pool.lease({ owner: 'ada', lane: 'query' });
  await lease.execute(["SET TimeZone = 'America/New_York'"]);
});
after(async () => {
  await lease.release();
  await engine[Symbol.asyncDispose]();
});

/** Values at the edges, and around them; more are made from a seed. */
const edges = {
  int: [0, 1, -1, 9, 10, 11, -9, -10, -11, 34, 2 ** 31 - 1, -(2 ** 31) + 100],
  long: [0n, 1n, -1n, 34n, 10n ** 12n, -(10n ** 12n), 2n ** 63n - 1n, -(2n ** 63n) + 100n],
  // From 4713 BC to the year 9999.
  days: [0, -1, 1, -31, -32, -365, -366, 17_486, -719_162, -719_163, -719_528, -2_440_000, 2_932_896],
  decimal: [0n, 1n, -1n, 127n, 128n, -128n, -129n, 255n, 256n, -256n, 1420n, -1065n, 32_767n, -32_769n],
  text: [
    '',
    'a',
    'ice',
    'iceberg',
    'é',
    'éa',
    '😀é😀',
    '👩‍👩‍👧x',
    'e\u0301\u0301f',
    "it's",
    '\n',
    'x'.repeat(1000),
  ],
} as const;

const microsPerDay = 86_400_000_000n;
const seed = 20_260_729;

function valuesOf(type: PrimitiveType): readonly PrimitiveValue[] {
  const random = randomBits(seed);
  const more = <T>(make: () => T) => Array.from({ length: 60 }, make);
  const bytes = (length: number) => Uint8Array.from({ length }, () => Number(random(8)));
  const instants = (perMicro: bigint) =>
    [...edges.days.map(BigInt), ...more(() => random(16) - 32_768n)]
      .flatMap((day) => [0n, 1n, -1n, 3_599_999_999n, random(36)].map((part) => day * microsPerDay + part))
      // Of nanoseconds 64 bits hold the years 1678 to 2261 only.
      .filter(
        (micros) => perMicro === 1n || (micros > -9_000_000_000_000_000n && micros < 9_000_000_000_000_000n),
      )
      .map((micros) => micros * perMicro + (perMicro === 1n ? 0n : random(9)));
  switch (type.kind) {
    case 'boolean':
      return [true, false];
    case 'int':
      return [...edges.int, ...more(() => Number(random(31) - 2n ** 30n))];
    case 'long':
      return [...edges.long, ...more(() => random(63) - 2n ** 62n)];
    case 'float':
      return [0, 1.5, -0.1, 3.4e38, 1e-45, Number.NaN, Number.POSITIVE_INFINITY].map(Math.fround);
    case 'double':
      return [0, 0.1, -1e300, 5e-324, Number.NaN, Number.NEGATIVE_INFINITY];
    case 'decimal': {
      const most = 10n ** BigInt(type.precision) - 1n;
      const few = more(() => random(type.precision * 3) - 2n ** BigInt(type.precision * 3 - 1));
      return [...edges.decimal, most, 100n - most, ...few].filter((each) => each <= most && each >= -most);
    }
    case 'date':
      return [...edges.days, ...more(() => Number(random(16)) - 32_768)];
    case 'time':
      return [0n, 1n, microsPerDay - 1n, ...more(() => random(36))];
    case 'timestamp':
    case 'timestamptz':
      return instants(1n);
    case 'timestamp_ns':
      return instants(1000n);
    case 'string':
      return [
        ...edges.text,
        ...more(() =>
          Buffer.from(bytes(Number(random(5))))
            .toString('latin1')
            .replaceAll('\0', '?'),
        ),
      ];
    case 'uuid':
      return [
        Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'),
        new Uint8Array(16),
        ...more(() => bytes(16)),
      ];
    case 'fixed':
      return more(() => bytes(type.length));
    case 'binary':
      return [new Uint8Array(0), Uint8Array.of(0, 1, 2, 3), ...more(() => bytes(Number(random(5))))];
    default:
      return [];
  }
}

const types: readonly PrimitiveType[] = [
  ...(['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp', 'timestamptz'] as const).map(
    (kind) => ({ kind }),
  ),
  ...(['timestamp_ns', 'string', 'uuid', 'binary'] as const).map((kind) => ({ kind })),
  { kind: 'fixed', length: 5 },
  { kind: 'decimal', precision: 4, scale: 2 },
  { kind: 'decimal', precision: 18, scale: 0 },
  { kind: 'decimal', precision: 38, scale: 10 },
  { kind: 'decimal', precision: 38, scale: 38 },
];
const transforms = [
  'identity',
  'void',
  'year',
  'month',
  'day',
  'hour',
  'bucket[1]',
  'bucket[16]',
  'bucket[2147483647]',
  'truncate[1]',
  'truncate[3]',
  'truncate[10]',
  'truncate[2147483647]',
];

for (const type of types)
  describe(`the partition values of ${engineType(type)} (${type.kind})`, () => {
    for (const text of transforms) {
      const transform = parseTransform(text);
      if (transformResultType(transform, type) === undefined)
        it(`are refused for ${text}`, () => {
          assert.throws(
            () => partitionSql(transform, type, 'x'),
            (error) => error instanceof QueryError && error.code === 'NOT_SUPPORTED',
          );
        });
      else
        it(`of ${text} are what the specification says, and NULL of NULL`, async () => {
          const values = valuesOf(type);
          const found = await evaluate(partitionSql(transform, type, 'v'), type, values);
          assert.equal(found.length, values.length + 1);
          assert.equal(found.at(-1), null);
          values.forEach((value, index) => {
            const text = found[index];
            const actual = typeof text === 'string' ? partitionValue(transform, type, text) : null;
            assert.deepEqual(
              plain(actual),
              plain(applyTransform(transform, type, value)),
              `${plain(value)} (seed ${seed})`,
            );
          });
        });
    }
  });

it('a transform of a later version is refused by its name', () => {
  assert.throws(() => partitionSql(parseTransform('zorder[3]'), { kind: 'int' }, 'x'), /zorder\[3\]/);
});

/** The texts of an expression over the column `v` of these values and a NULL. */
async function evaluate(
  sql: string,
  type: PrimitiveType,
  values: readonly PrimitiveValue[],
): Promise<readonly unknown[]> {
  const name = engineType(type);
  const rows = [...values.map((value) => literal(type, value)), 'NULL'].map(
    (value, index) => `(${index}, CAST(${value} AS ${name}))`,
  );
  const answer = await lease.queryText(
    `SELECT CAST(to_json(list(CAST(p AS VARCHAR) ORDER BY i)) AS VARCHAR) FROM (SELECT i, ${sql} AS p FROM (VALUES ${rows.join(', ')}) AS t(i, v))`,
    [],
  );
  const found: unknown = JSON.parse(answer);
  assert.ok(Array.isArray(found));
  return found;
}

function literal(type: PrimitiveType, value: PrimitiveValue): string {
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value).toString('hex');
    return type.kind === 'uuid' ? `'${hex}'` : `unhex('${hex}')`;
  }
  switch (type.kind) {
    case 'date':
      return `DATE '1970-01-01' + CAST(${value} AS INTEGER)`;
    case 'time':
      return `TIME '00:00:00' + to_microseconds(${value})`;
    case 'timestamp':
      return `make_timestamp(${value})`;
    case 'timestamptz':
      return `make_timestamptz(${value})`;
    case 'timestamp_ns':
      return `make_timestamp_ns(${value})`;
    case 'decimal': {
      const digits = String(value)
        .replace('-', '')
        .padStart(type.scale + 1, '0');
      const point = digits.length - type.scale;
      return `'${String(value).startsWith('-') ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}'`;
    }
    default:
      return `'${String(value).replaceAll("'", "''")}'`;
  }
}

/** For comparing and for messages: bytes of any class, and big numbers. */
function plain(value: PrimitiveValue | null | undefined): string {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : `${typeof value} ${value}`;
}

/** Whole numbers of so many bits, the same for the same seed. */
function randomBits(start: number): (bits: number) => bigint {
  let state = BigInt(start);
  return (bits) => {
    let value = 0n;
    for (let have = 0; have < bits; have += 32) {
      state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
      value = (value << 32n) | (state >> 32n);
    }
    return BigInt.asUintN(bits, value);
  };
}

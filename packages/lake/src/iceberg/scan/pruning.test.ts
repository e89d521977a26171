/**
 * Random tables and filters: a file that is left out never holds a row that the filter keeps. The oracle evaluates the
 * filter on every row, as the engine compares (NaN above all numbers and equal to itself, null never).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparisonOperator, Literal, ScanFilter } from '@svc/sql';
import { createMetadataFiles } from '../cache/metadata-files.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { AddedDataFile, DataFileMetrics } from '../manifests/write-manifest.js';
import { encodeBinaryValue } from '../spec/binary-value.js';
import { parsePrimitiveType } from '../spec/type-text.js';
import type { NestedField, PrimitiveType } from '../spec/types.js';
import { compareValues, isNaNValue, type PrimitiveValue, toComparable } from '../spec/values.js';
import { type SeededRandom, seededRandom } from '../testing/seeded-random.js';
import { fixtureTable } from '../testing/table-fixture.js';
import { applyTransform } from '../transforms/apply-transform.js';
import { parseTransform, transformResultType } from '../transforms/transform.js';
import { planFiles } from './plan-files.js';

interface Column {
  readonly name: string;
  readonly type: PrimitiveType;
  readonly literalType: string;
  readonly transforms: readonly string[];
  readonly value: (random: SeededRandom, near: number) => PrimitiveValue;
}

type Row = readonly (PrimitiveValue | null)[];

const words = [
  '',
  'a',
  'ab',
  'abc',
  'abcdefghijklmnopqrstuv',
  'abcdefghijklmnopzz',
  'b',
  'é',
  'zz',
  '\uffff',
  '😀',
  '😀a',
];
const floats = [
  0,
  -0,
  1.5,
  -1.5,
  1e300,
  -1e300,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  0.1,
];

/** `near` moves with the file, so that files differ and pruning has something to do. */
const columns: readonly Column[] = [
  column(
    'i',
    'int',
    'INTEGER',
    ['bucket[5]', 'truncate[7]', 'identity'],
    (random, near) => near * 10 + random.below(20) - 50,
  ),
  column(
    'l',
    'long',
    'BIGINT',
    ['bucket[3]', 'truncate[100]', 'identity'],
    (random, near) => BigInt(near * 1000) * 2n ** 40n + BigInt(random.below(50)),
  ),
  column('f', 'float', 'FLOAT', ['identity'], (random, near) =>
    Math.fround(random.below(4) === 0 ? random.pick(floats) : near + random.next()),
  ),
  column('d', 'double', 'DOUBLE', ['identity'], (random, near) =>
    random.below(4) === 0 ? random.pick(floats) : near + random.next(),
  ),
  column('m', 'decimal(12, 3)', 'DECIMAL(12,3)', ['bucket[4]', 'truncate[50]', 'identity'], (random, near) =>
    BigInt(near * 500 + random.below(900) - 3000),
  ),
  column(
    's',
    'string',
    'VARCHAR',
    ['bucket[6]', 'truncate[1]', 'truncate[3]', 'identity'],
    (random, near) => random.pick(words.slice(near % 5)) + random.pick(['', '', 'x']),
  ),
  column('b', 'binary', 'BLOB', ['bucket[4]', 'truncate[1]', 'identity'], (random, near) =>
    Uint8Array.from({ length: random.below(4) }, () => (near * 40 + random.below(60)) & 255),
  ),
  column('t', 'boolean', 'BOOLEAN', ['identity'], (random, near) =>
    near % 3 === 0 ? random.below(2) === 0 : near % 2 === 0,
  ),
  column(
    'date',
    'date',
    'DATE',
    ['year', 'month', 'day', 'bucket[4]', 'identity'],
    (random, near) => near * 300 + random.below(100) - 1500,
  ),
  column(
    'ts',
    'timestamp',
    'TIMESTAMP',
    ['year', 'month', 'day', 'hour', 'bucket[4]', 'identity'],
    (random, near) => BigInt(near - 5) * 40_000_000_000_000n + BigInt(random.below(1_000_000)) * 100_003n,
  ),
  column(
    'tz',
    'timestamptz',
    'TIMESTAMP WITH TIME ZONE',
    ['month', 'hour'],
    (random, near) => BigInt(near - 5) * 1_000_000_000_000n + BigInt(random.below(1_000_000_000)),
  ),
  column('u', 'uuid', 'UUID', ['bucket[4]', 'identity'], (random, near) =>
    Uint8Array.from({ length: 16 }, (_unused, index) => (index === 0 ? near * 30 : random.below(256))),
  ),
];

function column(
  name: string,
  type: string,
  literalType: string,
  transforms: readonly string[],
  value: Column['value'],
): Column {
  const parsed = parsePrimitiveType(type);
  assert.ok(parsed !== undefined);
  return { name, type: parsed, literalType, transforms, value };
}

const fields: readonly NestedField[] = columns.map((each, index) => ({
  id: index + 1,
  name: each.name,
  required: false,
  type: each.type,
}));

test('no file that holds a matching row is ever left out', async () => {
  const totals = { files: 0, planned: 0, manifests: 0, manifestsRead: 0, withMatch: 0 };
  for (let seed = 1; seed <= 120; seed++) {
    const random = seededRandom(seed);
    const { table, rowsOf } = randomTable(random);
    const sources = table.metadata.partitionSpecs.flatMap((spec) =>
      spec.fields.map((field) => (field.sourceIds[0] ?? 1) - 1),
    );
    for (let round = 0; round < 12; round++) {
      const filters = Array.from({ length: 1 + random.below(2) }, () => randomFilter(random, 2, sources));
      const { files, counts } = await planFiles(
        table,
        { kind: 'current' },
        { columns: undefined, filters },
        {
          files: createMetadataFiles(1_000_000),
        },
      );
      const planned = new Set(files.map((file) => file.location));
      for (const [location, rows] of rowsOf) {
        const matches = rows.some((row) => filters.every((filter) => holds(filter, row) === true));
        totals.withMatch += Number(matches);
        if (matches)
          assert.ok(planned.has(location), `seed ${seed} round ${round}: ${location} ${describe(filters)}`);
      }
      assert.equal(counts.filesTotal, rowsOf.size, `seed ${seed}`);
      assert.equal(
        table.store.reads.splice(0).length,
        counts.manifestsRead + 1,
        'the list and the manifests counted',
      );
      totals.files += rowsOf.size;
      totals.planned += files.length;
      totals.manifests += counts.manifestsTotal;
      totals.manifestsRead += counts.manifestsRead;
    }
  }
  // What is kept beyond need is the price of incomplete statistics; it must not become everything.
  assert.ok(totals.planned < totals.files * 0.7, JSON.stringify(totals));
  assert.ok(totals.manifestsRead < totals.manifests * 0.9, JSON.stringify(totals));
  assert.ok(totals.withMatch > totals.files * 0.1, JSON.stringify(totals));
});

function randomTable(random: SeededRandom): {
  readonly table: ReturnType<typeof fixtureTable>;
  readonly rowsOf: ReadonlyMap<string, readonly Row[]>;
} {
  const partitionSpec = randomSpec(random);
  const rowsOf = new Map<string, readonly Row[]>();
  const manifests = Array.from({ length: 1 + random.below(4) }, (_unused, manifest) => ({
    files: Array.from({ length: 1 + random.below(5) }, (_none, file) => {
      const location = `mem/data/${manifest}-${file}.parquet`;
      const near = manifest * 3 + random.below(4);
      const { rows, partition } = randomRows(random, near, partitionSpec);
      rowsOf.set(location, rows);
      return {
        location,
        sizeBytes: 1000,
        partition,
        metrics: metricsOf(random, rows),
      } satisfies AddedDataFile;
    }),
  }));
  return { table: fixtureTable(fields, partitionSpec, manifests), rowsOf };
}

function randomSpec(random: SeededRandom): TypedPartitionSpec {
  const partitionFields = Array.from({ length: random.below(3) }, (_unused, index) => {
    const source = random.below(columns.length);
    const transform = random.pick(columns[source]?.transforms ?? []);
    return { sourceIds: [source + 1], fieldId: 1000 + index, name: `p${index}`, transform };
  });
  const types = partitionFields.map((field) => {
    const source = fields[(field.sourceIds[0] ?? 0) - 1]?.type as PrimitiveType;
    return transformResultType(parseTransform(field.transform), source);
  });
  return { spec: { specId: 0, fields: partitionFields }, types };
}

/** Rows that all have the partition values of the first. */
function randomRows(
  random: SeededRandom,
  near: number,
  { spec }: TypedPartitionSpec,
): { readonly rows: readonly Row[]; readonly partition: readonly (PrimitiveValue | null)[] } {
  const allNull = new Set(columns.map((_unused, index) => index).filter(() => random.below(12) === 0));
  const candidate = (): Row =>
    columns.map((each, index) =>
      allNull.has(index) || random.below(15) === 0 ? null : each.value(random, near),
    );
  const partitionOf = (row: Row) =>
    spec.fields.map((field) => {
      const source = (field.sourceIds[0] ?? 0) - 1;
      const value = row[source] ?? null;
      const type = columns[source]?.type ?? { kind: 'int' };
      return value === null ? null : (applyTransform(parseTransform(field.transform), type, value) ?? null);
    });
  const first = candidate();
  const partition = partitionOf(first);
  const key = describe(partition);
  const rows = [first];
  for (let tries = 0; tries < 60 && rows.length < 12; tries++) {
    const row = candidate();
    if (describe(partitionOf(row)) === key) rows.push(row);
  }
  return { rows, partition };
}

function metricsOf(random: SeededRandom, rows: readonly Row[]): DataFileMetrics {
  const metrics = {
    recordCount: rows.length,
    columnSizes: new Map<number, number>(),
    valueCounts: new Map<number, number>(),
    nullValueCounts: new Map<number, number>(),
    nanValueCounts: new Map<number, number>(),
    lowerBounds: new Map<number, Uint8Array>(),
    upperBounds: new Map<number, Uint8Array>(),
    splitOffsets: [4],
  };
  for (const [index, { type }] of columns.entries()) {
    const id = index + 1;
    const present = rows.map((row) => row[index] ?? null).filter((value) => value !== null);
    const numbers = present.filter((value) => !isNaNValue(value));
    const mayOmit = () => random.below(10) === 0;
    if (!mayOmit()) metrics.valueCounts.set(id, rows.length);
    if (!mayOmit()) metrics.nullValueCounts.set(id, rows.length - present.length);
    if ((type.kind === 'float' || type.kind === 'double') && !mayOmit())
      metrics.nanValueCounts.set(id, present.length - numbers.length);
    numbers.sort((a, b) => compareValues(toComparable(a), toComparable(b)));
    const [lower, upper] = [numbers[0], numbers.at(-1)];
    if (lower === undefined || upper === undefined) continue;
    if (!mayOmit()) metrics.lowerBounds.set(id, cut(encodeBinaryValue(type, lower), type, false));
    if (!mayOmit()) metrics.upperBounds.set(id, cut(encodeBinaryValue(type, upper), type, true));
  }
  return metrics;
}

/** Bounds of text and binary are cut to 16 bytes; an upper one is then raised. */
function cut(bound: Uint8Array, type: PrimitiveType, isUpper: boolean): Uint8Array {
  if ((type.kind !== 'string' && type.kind !== 'binary') || bound.length <= 16) return bound;
  const prefix = Uint8Array.from(bound.subarray(0, 16));
  if (isUpper) prefix[15] = (prefix[15] ?? 0) + 1;
  return prefix;
}

const operators: readonly ComparisonOperator[] = ['=', '<>', '<', '<=', '>', '>='];

/** Half of the conditions are on a column that the table is partitioned by, if there is one. */
function randomFilter(random: SeededRandom, depth: number, sources: readonly number[]): ScanFilter {
  if (depth > 0 && random.below(4) === 0)
    return {
      kind: random.below(2) === 0 ? 'and' : 'or',
      filters: Array.from({ length: random.below(4) }, () => randomFilter(random, depth - 1, sources)),
    };
  const isOnPartition = sources.length > 0 && random.below(2) === 0;
  const each = columns[isOnPartition ? random.pick(sources) : random.below(columns.length)];
  assert.ok(each !== undefined);
  const literal = (): Literal => ({
    type: each.literalType,
    value: literalValue(each.type, each.value(random, random.below(14))),
  });
  switch (random.below(8)) {
    case 0:
      return { kind: 'is-null', column: [each.name] };
    case 1:
      return { kind: 'is-not-null', column: [each.name.toUpperCase()] };
    case 2:
      return { kind: 'in', column: [each.name], literals: Array.from({ length: random.below(5) }, literal) };
    case 3:
      return { kind: 'starts-with', column: ['s'], prefix: random.pick(words) };
    default:
      return { kind: 'compare', column: [each.name], operator: random.pick(operators), literal: literal() };
  }
}

/** Literals have whole numbers as bigint; int and date columns hold theirs as number. */
function literalValue(type: PrimitiveType, value: PrimitiveValue): Literal['value'] {
  return typeof value === 'number' && (type.kind === 'int' || type.kind === 'date') ? BigInt(value) : value;
}

/** SQL's three values. */
function holds(filter: ScanFilter, row: Row): boolean | null {
  switch (filter.kind) {
    case 'and':
      return joined(
        filter.filters.map((inner) => holds(inner, row)),
        false,
      );
    case 'or':
      return joined(
        filter.filters.map((inner) => holds(inner, row)),
        true,
      );
    case 'is-null':
      return columnValue(filter.column, row) === null;
    case 'is-not-null':
      return columnValue(filter.column, row) !== null;
    case 'starts-with': {
      const value = columnValue(filter.column, row);
      return value === null ? null : String(value).startsWith(filter.prefix);
    }
    case 'in':
      return joined(
        filter.literals.map((literal) => compare(filter.column, '=', literal, row)),
        true,
      );
    case 'compare':
      return compare(filter.column, filter.operator, filter.literal, row);
  }
}

function joined(results: readonly (boolean | null)[], decisive: boolean): boolean | null {
  if (results.includes(decisive)) return decisive;
  return results.includes(null) ? null : !decisive;
}

function compare(
  path: readonly string[],
  operator: ComparisonOperator,
  literal: Literal,
  row: Row,
): boolean | null {
  const value = columnValue(path, row);
  if (value === null) return null;
  const order = compareValues(toComparable(value), toComparable(literal.value));
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
    case '>=':
      return order >= 0;
  }
}

function columnValue([name]: readonly string[], row: Row): PrimitiveValue | null {
  const index = columns.findIndex((each) => each.name.toLowerCase() === name?.toLowerCase());
  return row[index] ?? null;
}

function describe(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return `${each}n`;
    return typeof each === 'number' && !Number.isFinite(each) ? String(each) : each;
  });
}

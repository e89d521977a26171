import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { decodeZ85 } from '../delta/table/z85.js';
import { seededRandom } from '../parquet/fakes/memory-store.js';
import { bitmapPositions } from './roaring-bitmap.js';

/** The rows of the protocol's "JSON Example 3 — Inline" in the format that it describes (the text there has an older one). */
const example = '^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L';

function positionsOf(bytes: Uint8Array): readonly number[] {
  return [...bitmapPositions(bytes, 'b')].flatMap((page) =>
    Array.from({ length: page.length / 8 }, (_one, index) =>
      Number(Buffer.from(page).readBigInt64LE(index * 8)),
    ),
  );
}

test('an inline bitmap has the rows of the protocol’s example', () => {
  assert.deepEqual(
    positionsOf(decodeZ85(example)?.subarray(0, 44) ?? new Uint8Array()),
    [3, 4, 7, 11, 18, 29],
  );
});

test('lists, bit sets and runs are read, in several containers and buckets', () => {
  const list = { key: 0, values: [1, 5, 65535] };
  const bits = { key: 3, values: Array.from({ length: 5000 }, (_one, index) => index * 13) };
  const runs = { key: 4, values: [0, 1, 2, 10, 11, 65535], isRuns: true };
  const positions = positionsOf(
    bitmapOf([
      [0, [list, bits, runs]],
      [2, [list]],
    ]),
  );
  const expected = [
    ...list.values,
    ...bits.values.map((value) => 3 * 65536 + value),
    ...runs.values.map((value) => 4 * 65536 + value),
    ...list.values.map((value) => 2 * 2 ** 32 + value),
  ];
  assert.deepEqual(positions, expected);
});

test('positions come in pages of bounded size', () => {
  const all = Array.from({ length: 65536 }, (_one, index) => index);
  const containers = [0, 1, 2].map((key) => ({ key, values: all, isRuns: true }));
  const pages = [...bitmapPositions(bitmapOf([[0, containers]]), 'b')].map((page) => page.length / 8);
  assert.deepEqual(pages, [65536, 65536, 65536]);
});

test('an unknown format is refused by its number', () => {
  const bytes = bitmapOf([]);
  bytes.writeUInt32LE(1681511378, 0);
  assert.throws(() => positionsOf(bytes), { code: 'DATA_CORRUPT', message: /begins with 1681511378/ });
});

test('damaged bytes are refused, whatever they are', () => {
  const random = seededRandom(7);
  const containers = [
    { key: 0, values: [1, 5, 9] },
    { key: 1, values: Array.from({ length: 5000 }, (_one, index) => index) },
    { key: 2, values: [3, 4, 5], isRuns: true },
  ];
  const intact = bitmapOf([[0, containers]]);
  let refused = 0;
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(intact.subarray(0, Math.ceil(random() * intact.length)));
    for (let change = 0; change < 3; change++)
      bytes[Math.floor(random() ** 3 * bytes.length)] = Math.floor(random() * 256);
    try {
      positionsOf(bytes);
    } catch (error) {
      assert.ok(error instanceof QueryError, `round ${round}: ${error}`);
      refused += 1;
    }
  }
  assert.ok(refused > 1500, `${refused} of 2000`);
});

interface TestContainer {
  readonly key: number;
  readonly values: readonly number[];
  readonly isRuns?: boolean;
}

function bitmapOf(buckets: readonly (readonly [number, readonly TestContainer[]])[]): Buffer {
  const parts = [u32(1681511377), u32(buckets.length), u32(0)];
  for (const [key, containers] of buckets) parts.push(u32(key), ...bucketOf(containers));
  return Buffer.concat(parts);
}

function bucketOf(containers: readonly TestContainer[]): readonly Buffer[] {
  const hasRuns = containers.some((container) => container.isRuns);
  const flags = Buffer.alloc(Math.ceil(containers.length / 8));
  containers.forEach((container, index) => {
    if (container.isRuns) flags[index >> 3] = (flags[index >> 3] ?? 0) | (1 << (index & 7));
  });
  const head = hasRuns
    ? [u32(12347 | ((containers.length - 1) << 16)), flags]
    : [u32(12346), u32(containers.length)];
  const keys = containers.map(({ key, values }) => u16(key, values.length - 1));
  const offsets = hasRuns && containers.length < 4 ? [] : [Buffer.alloc(containers.length * 4)];
  return [...head, ...keys, ...offsets, ...containers.map(valuesOf)];
}

function valuesOf({ values, isRuns }: TestContainer): Buffer {
  if (isRuns) {
    const starts = values.filter((value, index) => index === 0 || values[index - 1] !== value - 1);
    const ends = values.filter((value, index) => values[index + 1] !== value + 1);
    const lengths = starts.map((start, index) => (ends[index] ?? start) - start);
    return u16(starts.length, ...starts.flatMap((start, index) => [start, lengths[index] ?? 0]));
  }
  if (values.length <= 4096) return u16(...values);
  const bits = Buffer.alloc(8192);
  for (const value of values) bits[value >> 3] = (bits[value >> 3] ?? 0) | (1 << (value & 7));
  return bits;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16LE(value, index * 2);
  });
  return bytes;
}

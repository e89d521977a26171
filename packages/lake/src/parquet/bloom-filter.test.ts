import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sbbfContains, sbbfInsert } from 'hyparquet/src/bloom.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import { readBloomFilters } from './bloom-filter.js';
import type { ColumnChunk } from './column-chunk.js';
import { MemoryStore } from './fakes/memory-store.js';
import type { ParquetFooter } from './footer.js';

const hashOf = (text: string) => xxhash64(Buffer.from(text));
const start = 4;

/** A file with one filter of `bitBytes`, which has the values v0 to v999. */
function fileWithFilter(bitBytes: number, kind = 0x1c) {
  const bits = new Uint32Array(bitBytes / 4);
  for (let value = 0; value < 1000; value++) sbbfInsert(bits, hashOf(`v${value}`));
  const varint: number[] = [];
  for (let rest = bitBytes * 2; rest > 0; rest = Math.floor(rest / 128))
    varint.push((rest % 128) | (rest >= 128 ? 128 : 0));
  const union = [kind, 0x1c, 0x00, 0x00];
  const header = Buffer.from([0x15, ...varint, ...union, ...union, ...union, 0x00]);
  const store = new MemoryStore();
  const bytes = Buffer.concat([Buffer.from('PAR1'), header, Buffer.from(bits.buffer), Buffer.alloc(100)]);
  store.put('f', bytes, 'v');
  const footer = { location: 'f', version: 'v', footerStart: bytes.length } as ParquetFooter;
  const ask = (hashes: readonly bigint[], bloomFilterBytes?: number) => {
    const chunk = { bloomFilterStart: start, bloomFilterBytes } as ColumnChunk;
    return readBloomFilters(store, footer, [{ chunk, hashes }], undefined);
  };
  return { store, bits, ask, length: header.length + bitBytes };
}

test('of a large filter the header and the blocks of the values are read', async () => {
  const { store, bits, ask, length } = fileWithFilter(1 << 20);
  for (const known of [undefined, length])
    for (let value = 990; value < 1100; value++) {
      store.forgetCounts();
      const hash = hashOf(`v${value}`);
      const [bloom] = await ask([hash], known);
      assert.equal(bloom?.mightContain(hash), sbbfContains(bits, hash), `v${value}`);
      assert.deepEqual([store.bytesRead, store.ranges.length], [64 + 32, 2]);
    }
});

test('nothing is said of values that were not asked for', async () => {
  const { ask } = fileWithFilter(1 << 20);
  const [bloom] = await ask([hashOf('v1'), hashOf('none')]);
  assert.deepEqual(
    ['v1', 'none', 'another'].map((value) => bloom?.mightContain(hashOf(value))),
    [true, false, true],
  );
});

test('small filters, and filters that are asked for many values, are read whole', async () => {
  const small = fileWithFilter(1 << 12);
  const [bloom] = await small.ask([hashOf('v1')], small.length);
  assert.deepEqual([small.store.bytesRead, small.store.ranges.length], [small.length, 1]);
  assert.equal(bloom?.mightContain(hashOf('none')), sbbfContains(small.bits, hashOf('none')));
  const large = fileWithFilter(1 << 20);
  const values = Array.from({ length: 20 }, (_none, index) => hashOf(`x${index}`));
  const [whole] = await large.ask(values, large.length);
  assert.equal(large.store.bytesRead, large.length);
  for (const hash of values) assert.equal(whole?.mightContain(hash), sbbfContains(large.bits, hash));
});

test('a filter of another kind, or one that the file has no room for, says nothing', async () => {
  assert.deepEqual(await fileWithFilter(1 << 20, 0x2c).ask([hashOf('v1')]), [undefined]);
  const { ask } = fileWithFilter(1 << 12);
  assert.deepEqual(await ask([hashOf('v1')], 1 << 16), [undefined]);
});

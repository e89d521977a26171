import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf } from '../capi/memory.js';
import { appendBits, appendOnes, countZeros } from './bitmap.js';

test('bits are joined at every pair of offsets, with zeros behind the end', () => {
  const random = seededBits(1234);
  const source = Uint8Array.from({ length: 64 }, () => random() & 0xff);
  for (let targetBit = 0; targetBit < 17; targetBit++)
    for (let sourceBit = 0; sourceBit < 17; sourceBit++)
      for (const count of [0, 1, 2, 7, 8, 9, 63, 64, 65, 200]) {
        const bytes = new Uint8Array(new ArrayBuffer(40)).fill(0xff);
        const target = { bytes, address: addressOf(bytes), byteOffset: 2 };
        const expected: number[] = [];
        appendOnes(target, 0, targetBit);
        for (let bit = 0; bit < targetBit; bit++) expected.push(1);
        appendBits(target, targetBit, addressOf(source), sourceBit, count);
        for (let bit = 0; bit < count; bit++) expected.push(bitOf(source, sourceBit + bit));
        const end = targetBit + count;
        const actual = Array.from({ length: end }, (_, bit) => bitOf(bytes, 16 + bit));
        assert.deepEqual(actual, expected, `target ${targetBit}, source ${sourceBit}, count ${count}`);
        for (let bit = end; bit % 8 !== 0; bit++) assert.equal(bitOf(bytes, 16 + bit), 0);
        assert.equal(countZeros(bytes, 2, end), expected.filter((bit) => bit === 0).length);
      }
});

test('ones are appended at any offset, also to a Buffer, which takes no fractions as Uint8Array does', () => {
  for (let start = 0; start < 10; start++)
    for (let count = 0; count < 40; count++) {
      const bytes = Buffer.alloc(16);
      const target = { bytes, address: addressOf(bytes), byteOffset: 0 };
      appendOnes(target, start, count);
      assert.equal(countZeros(bytes, 0, start + count), start, `start ${start}, count ${count}`);
    }
});

function bitOf(bytes: Uint8Array, bit: number): number {
  return ((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1;
}

/** A small xorshift generator: the same sequence in every run. */
function seededBits(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

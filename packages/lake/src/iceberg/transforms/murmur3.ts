/** MurmurHash3, x86 variant, 32 bits, seed 0, as a signed number (specification, Appendix B). */
export function murmur3(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wholeWords = bytes.length & ~3;
  let hash = 0;
  for (let offset = 0; offset < wholeWords; offset += 4) {
    hash ^= mixWord(view.getUint32(offset, true));
    hash = (Math.imul(rotateLeft(hash, 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let offset = bytes.length - 1; offset >= wholeWords; offset--)
    tail = (tail << 8) | (bytes[offset] ?? 0);
  if (wholeWords < bytes.length) hash ^= mixWord(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function mixWord(word: number): number {
  return Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

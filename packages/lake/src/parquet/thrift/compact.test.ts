import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactReader, wireType } from './compact-reader.js';
import { CompactWriter } from './compact-writer.js';

test('what the writer writes the reader reads', () => {
  const writer = new CompactWriter();
  writer.structElement(() => {
    writer.i32(1, -7);
    writer.i64(20, 2 ** 51);
    writer.struct(21, () => writer.binary(3, Buffer.from('é')));
    writer.list(22, wireType.i32, 20);
    for (let index = 0; index < 20; index++) writer.integerElement(-index);
    writer.raw(40, wireType.true, new Uint8Array());
  });
  const seen: unknown[] = [];
  const reader = new CompactReader(writer.bytes(), 'f');
  reader.fields((id, type) => {
    if (type === wireType.i32 || type === wireType.i64) seen.push([id, reader.integer()]);
    else if (type === wireType.struct)
      reader.fields((inner) => {
        seen.push([id, inner, reader.text()]);
        return true;
      });
    else if (type === wireType.list) {
      const { count } = reader.list();
      seen.push([id, Array.from({ length: count }, () => reader.integer()).reduce((a, b) => a + b)]);
    } else {
      seen.push([id, type === wireType.true]);
      return false;
    }
    return true;
  });
  assert.deepEqual(seen, [
    [1, -7],
    [20, 2 ** 51],
    [21, 3, 'é'],
    [22, -190],
    [40, true],
  ]);
});

test('every cut of a message is refused, by name', () => {
  const writer = new CompactWriter();
  writer.structElement(() => {
    writer.binary(1, Buffer.from('hello'));
    writer.list(2, wireType.struct, 1);
    writer.structElement(() => writer.i64(1, 123456789));
  });
  const whole = writer.bytes();
  for (let length = 0; length < whole.length; length++)
    assert.throws(() => new CompactReader(whole.slice(0, length), 'a.parquet').skip(wireType.struct), {
      code: 'DATA_CORRUPT',
      message: /a\.parquet/,
    });
});

test('lists that claim more elements than there are bytes are refused before anything is made of them', () => {
  const claims = Uint8Array.of(0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00);
  assert.throws(() => new CompactReader(claims, 'f').skip(wireType.struct), { code: 'DATA_CORRUPT' });
});

test('deep nesting is refused and does not end the process', () => {
  const deepStructs = new Uint8Array(100_000).fill(0x1c);
  assert.throws(() => new CompactReader(deepStructs, 'f').skip(wireType.struct), /nested too deeply/);
  const deepLists = new Uint8Array(100_000).fill(0x19);
  assert.throws(() => new CompactReader(deepLists, 'f').skip(wireType.list), /nested too deeply/);
});

test('numbers that no file can have are refused where they are read, and skipped where they are not', () => {
  const huge = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
  assert.throws(() => new CompactReader(huge, 'f').varint(), /out of range/);
  const reader = new CompactReader(huge, 'f');
  reader.skip(wireType.i64);
  assert.equal(reader.position, 10);
  assert.throws(
    () => new CompactReader(new Uint8Array(11).fill(0x80), 'f').skip(wireType.i64),
    /longer than 64 bits/,
  );
});

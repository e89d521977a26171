import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import snappy from 'snappyjs';
import { createManifestReader } from '../manifests/manifest.js';
import { namedManifest } from '../manifests/manifest-list.js';
import { parseJson } from '../spec/lossless-json.js';
import { seededRandom } from '../testing/seeded-random.js';
import { openAvroFile, readAvroRecords } from './container-reader.js';
import { writeAvroFile } from './container-writer.js';
import { crc32 } from './crc32.js';
import { AvroEncoder } from './encoder.js';
import {
  boolean,
  bytes,
  integer,
  integerMap,
  list,
  long,
  optional,
  record,
  text,
  withDefault,
} from './shapes.js';

const testdata = new URL('../../../testdata/avro/', import.meta.url);
const sync = Buffer.alloc(16, 7);
const schema = parseJson(
  `{"type": "record", "name": "row", "fields": [
    {"name": "id", "field-id": 1, "type": "long"},
    {"name": "inner", "field-id": 2, "type": {"type": "record", "name": "r", "fields": [
      {"name": "label", "field-id": 3, "type": ["null", "string"]},
      {"name": "skipped", "field-id": 4, "type": {"type": "map", "values": ["null", "double"]}}]}},
    {"name": "flags", "field-id": 5, "type": {"type": "array", "items": "boolean"}},
    {"name": "bounds", "field-id": 6, "type": {"type": "array", "logicalType": "map", "items":
      {"type": "record", "name": "pair", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]}}},
    {"name": "hash", "field-id": 7, "type": {"type": "fixed", "name": "f", "size": 4}}]}`.replace(
    ', "r4"',
    '',
  ),
  'test',
);

interface Row {
  readonly id: bigint;
  readonly label: string | null;
}

function encode(codec: 'null' | 'deflate', rows: readonly Row[]): Uint8Array {
  return writeAvroFile({
    schema,
    metadata: { extra: 'kept' },
    codec,
    sync,
    records: rows,
    write(encoder, row) {
      encoder.integer(row.id);
      encoder.optional(row.label, (label) => encoder.text(label));
      encoder.list([1.5, 2.5], (value) => {
        encoder.text('key');
        encoder.integer(1);
        encoder.double(value);
      });
      encoder.list([true, false], (value) => encoder.boolean(value));
      encoder.list([3, 5, 9], (key) => {
        encoder.integer(key);
        encoder.byteString(Buffer.alloc(key, key));
      });
      encoder.raw(Buffer.from([1, 2, 3, 4]));
    },
  });
}

const shape = record<{
  readonly id: bigint;
  readonly inner: { readonly label: string | null };
  readonly flags: readonly boolean[];
  readonly bounds: ReadonlyMap<number, Uint8Array>;
  readonly hash: Uint8Array;
  readonly later: number;
  readonly absent: string | null;
}>({
  id: { id: 1, name: '', shape: long },
  inner: {
    id: 2,
    name: '',
    shape: record<{ label: string | null }>({ label: { id: 3, name: '', shape: optional(text) } }),
  },
  flags: { id: 5, name: '', shape: list(boolean) },
  bounds: { id: 6, name: '', shape: integerMap(bytes, new Set([5])) },
  hash: { id: 7, name: '', shape: bytes },
  later: { id: 90, name: '', shape: withDefault(integer, 17) },
  absent: { id: 91, name: '', shape: optional(text) },
});

const extremes = [
  0n,
  -1n,
  63n,
  -64n,
  64n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n + 1n,
  2n ** 62n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];

for (const codec of ['null', 'deflate'] as const)
  test(`reads back what was written with codec ${codec}, skipping what is not asked for`, async () => {
    const rows = extremes.map((id, index) => ({ id, label: index % 2 === 0 ? `é😀${id}` : null }));
    const file = await openAvroFile(encode(codec, rows), 'mem');
    assert.equal(Buffer.from(file.metadata.get('extra') ?? []).toString(), 'kept');
    const read = [...readAvroRecords(file, shape)];
    assert.deepEqual(
      read.map((row) => ({ id: row.id, label: row.inner.label })),
      rows,
    );
    const [first] = read;
    assert.deepEqual(first?.flags, [true, false]);
    assert.deepEqual([...(first?.bounds ?? [])], [[5, Buffer.alloc(5, 5)]]);
    assert.deepEqual([first?.hash, first?.later, first?.absent], [Buffer.from([1, 2, 3, 4]), 17, null]);
  });

test('writes several blocks once one is large', async () => {
  const rows = Array.from({ length: 3000 }, (_, index) => ({ id: BigInt(index), label: 'x'.repeat(200) }));
  const encoded = encode('null', rows);
  assert.ok(encoded.length > 600_000);
  const file = await openAvroFile(encoded, 'mem');
  assert.equal(file.recordCount, 3000);
  assert.deepEqual([...readAvroRecords(file, shape)].at(-1)?.id, 2999n);
});

for (const codec of ['null', 'deflate', 'snappy', 'zstandard'])
  test(`reads a manifest written by pyiceberg with codec ${codec}`, async () => {
    const file = await openAvroFile(await readFile(new URL(`manifest-${codec}.avro`, testdata)), codec);
    const read = createManifestReader(fixtureSpec, {
      fieldIds: new Set([1]),
      partitionMightMatch: () => true,
      fileMightMatch: (metrics) =>
        metrics.lowerBounds?.get(1)?.length === 8 && metrics.lowerBounds.size === 1,
    });
    const { files, liveFileCount } = await read(file, { ...namedManifest('m'), sequenceNumber: 4n });
    assert.equal(liveFileCount, 3);
    assert.deepEqual(
      files.map((each) => each.partition),
      [
        [600, 0, null, null],
        [601, 1, 'Zoë', -1n],
        [602, 2, 'plain', -2n],
      ],
    );
    assert.deepEqual(files[2], {
      location: 'file:///warehouse/t/data/2.parquet',
      format: 'PARQUET',
      sizeBytes: 12_288,
      recordCount: 1002,
      partitionSpec: fixtureSpec,
      partition: [602, 2, 'plain', -2n],
      sequenceNumber: 4n,
      splitOffsets: [4, 2048],
      firstRowId: null,
    });
  });

const fixtureSpec = {
  spec: {
    specId: 3,
    fields: [
      { sourceIds: [3], fieldId: 1000, name: 'day_month', transform: 'month' },
      { sourceIds: [1], fieldId: 1001, name: 'id_bucket', transform: 'bucket[16]' },
      { sourceIds: [2], fieldId: 1002, name: 'name', transform: 'identity' },
      { sourceIds: [4], fieldId: 1003, name: 'price', transform: 'identity' },
    ],
  },
  types: [{ kind: 'int' }, { kind: 'int' }, { kind: 'string' }, { kind: 'decimal', precision: 9, scale: 2 }],
} as const;

test('reads snappy blocks and checks their checksum', async () => {
  const block = Buffer.from('snappy, snappy, snappy');
  assert.equal(crc32(Buffer.from('123456789')), 0xcbf43926);
  const compressed = snappy.compress(block);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(block));
  const good = container('snappy', [Buffer.concat([compressed, checksum])]);
  assert.deepEqual(
    Buffer.from((await openAvroFile(good, 'mem')).records).toString(),
    'snappy, snappy, snappy',
  );
  checksum.writeUInt32BE((crc32(block) ^ 1) >>> 0);
  await assertCorrupt(container('snappy', [Buffer.concat([compressed, checksum])]), /checksum/);
});

test('refuses codecs it does not know by their name', async () => {
  await assert.rejects(openAvroFile(container('bzip2', [Buffer.from('x')]), 'mem'), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /mem is compressed with "bzip2"/,
  });
});

test('names what is wrong with a damaged file', async () => {
  const good = Buffer.from(encode('null', [{ id: 1n, label: 'a' }]));
  await assertCorrupt(Buffer.alloc(0), /does not begin with an Avro header/);
  await assertCorrupt(Buffer.from('PAR1PAR1'), /does not begin with an Avro header/);
  await assertCorrupt(good.subarray(0, good.length - 1), /ends in the middle/);
  const badSync = Buffer.from(good);
  badSync[badSync.length - 1] = 8;
  await assertCorrupt(badSync, /sync marker/);
});

test('impossible counts and sizes are refused before anything is allocated for them', async () => {
  const huge = [2n ** 31n, 2n ** 40n, 2n ** 53n, 2n ** 62n, -(2n ** 62n)];
  for (const count of huge) {
    await assertCorrupt(container('null', [Buffer.from('x')], { count }), /./);
    await assertCorrupt(container('null', [], { tail: integers(1n, count) }), /./);
    const header = new AvroEncoder();
    header.raw(Buffer.from('Obj\x01'));
    header.integer(count);
    await assertCorrupt(header.finish(), /./);
  }
});

test('a block that unfolds without end is stopped', async () => {
  const zeros = deflateRawSync(Buffer.alloc(300 * 1024 * 1024));
  await assertCorrupt(container('deflate', [zeros]), /does not decompress as deflate/);
  // A zstd frame of endlessly repeated bytes: each block of four bytes stands for 128 KiB.
  const repeat = Buffer.from([0x02, 0x00, 0x10, 0x41]);
  const frame = Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]),
    ...Array(4096).fill(repeat),
  ]);
  await assertCorrupt(container('zstandard', [frame]), /zstd|zstandard/);
});

/** A zstd frame of parts that repeat a byte, under the window that a descriptor of one byte asks for. */
function zstdFrame(window: number, ...sizes: readonly number[]): Buffer {
  const parts = sizes.map((size, index) => {
    const part = Buffer.alloc(4, 0x41);
    part.writeUIntLE((size << 3) | (1 << 1) | Number(index === sizes.length - 1), 0, 3);
    return part;
  });
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, window]), ...parts]);
}

test('small zstd frames, the first and all others, get no more memory than they need, whatever they ask for', async () => {
  const gigabyte = (30 - 10) << 3;
  const block = Buffer.concat(Array.from({ length: 100 }, () => zstdFrame(gigabyte, 2)));
  const before = process.memoryUsage().rss;
  await assertCorrupt(container('zstandard', [block], { count: 1000n }), /cannot hold 1000 records/);
  assert.ok(process.memoryUsage().rss - before < 2 ** 29);
  const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0]);
  await assertCorrupt(
    container('zstandard', [Buffer.concat([skipped, zstdFrame(0xff, 2 ** 20)])], { count: 2n ** 40n }),
    /cannot hold/,
  );
  const single = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 0x13, 0, 0, 0x41]);
  await assertCorrupt(container('zstandard', [single]), /impossible size/);
  const countless = zstdFrame(14 << 3, ...Array<number>(100_000).fill(100));
  await assertCorrupt(container('zstandard', [countless]), /too much work/);
});

test('a file that unfolds to far more than files of its kind do is stopped, and one of countless records', async () => {
  const block = deflateRawSync(Buffer.alloc(4 * 1024 * 1024));
  const blocks = Array.from({ length: 6 }, () => block);
  await assertCorrupt(
    container('deflate', blocks),
    /does not decompress|decompresses to more than 16777216 bytes/,
  );
  const records = Buffer.alloc(2_000_001);
  await assertCorrupt(container('null', [records], { count: 2_000_001n }), /more than 2000000 records/);
});

test('schemas that would never end are refused', async () => {
  let nested = '{"type":"record","name":"n0","fields":[{"name":"a","type":"null"}]}';
  for (let level = 1; level < 45; level++)
    nested = `{"type":"record","name":"n${level}","fields":[{"name":"a","type":${nested}},{"name":"b","type":"n${level - 1}"}]}`;
  await assertCorrupt(container('null', [], { schema: nested }), /too large|too deep/);
  await assertCorrupt(container('null', [], { schema: '['.repeat(100_000) }), /not valid JSON/);
  await assertCorrupt(
    container('null', [], { schema: '{"type":"record","name":"r","fields":[{"name":"r","type":"r"}]}' }),
    /unknown type "r"/,
  );
  await assertCorrupt(
    container('null', [], { schema: '{"type":"array","items":"null"}' }),
    /without content/,
  );
  await assertCorrupt(container('null', [], { schema: '"null"' }), /no content/);
});

test('any damage to any codec is an error that names the file, or goes unnoticed', async () => {
  const seed = 20_240_601;
  const random = seededRandom(seed);
  const readAny = createManifestReader(fixtureSpec, {
    fieldIds: new Set([1]),
    partitionMightMatch: () => true,
    fileMightMatch: () => true,
  });
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard']) {
    const original = await readFile(new URL(`manifest-${codec}.avro`, testdata));
    for (let round = 0; round < 400; round++) {
      const damaged = Buffer.from(
        original.subarray(0, round % 2 === 0 ? original.length : random.below(original.length)),
      );
      for (let change = random.below(4); change > 0 && damaged.length > 0; change--)
        damaged[random.below(damaged.length)] = random.below(256);
      try {
        const file = await openAvroFile(damaged, 'the-file');
        await readAny(file, namedManifest('m'));
      } catch (error) {
        assert.ok(error instanceof QueryError, `seed ${seed} ${codec} ${round}: ${String(error)}`);
        assert.match(
          error.code,
          /^(DATA_CORRUPT|UNSUPPORTED_TABLE_FEATURE)$/,
          `seed ${seed} ${codec} ${round}`,
        );
        assert.match(error.message, /the-file|encrypted/, `seed ${seed} ${codec} ${round}`);
      }
    }
  }
});

function integers(...values: readonly bigint[]): Uint8Array {
  const encoder = new AvroEncoder();
  for (const value of values) encoder.integer(value);
  return encoder.finish();
}

function container(
  codec: string,
  blocks: readonly Uint8Array[],
  options: { readonly schema?: string; readonly count?: bigint; readonly tail?: Uint8Array } = {},
): Uint8Array {
  const encoder = new AvroEncoder();
  encoder.raw(Buffer.from('Obj\x01'));
  encoder.list(
    Object.entries({ 'avro.schema': options.schema ?? '"bytes"', 'avro.codec': codec }),
    ([key, value]) => {
      encoder.text(key);
      encoder.text(value);
    },
  );
  encoder.raw(sync);
  for (const block of blocks) {
    encoder.integer(options.count ?? 1n);
    encoder.byteString(block);
    encoder.raw(sync);
  }
  encoder.raw(options.tail ?? new Uint8Array());
  return encoder.finish();
}

async function assertCorrupt(damaged: Uint8Array, message: RegExp): Promise<void> {
  const readAll = async () => {
    for (const _value of readAvroRecords(await openAvroFile(damaged, 'mem'), bytes)) void _value;
  };
  await assert.rejects(
    readAll,
    (error: unknown) =>
      error instanceof QueryError &&
      error.code === 'DATA_CORRUPT' &&
      error.message.startsWith('mem is not a valid Avro file') &&
      message.test(error.message),
    String(message),
  );
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { type SeededRandom, seededRandom } from '../iceberg/testing/seeded-random.js';
import { MemoryStore } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import { convertAvroFile } from './convert-avro-file.js';
import { avroData, type Field, optional, recordOf, type Schema } from './testing/avro-data.js';

const location = 's3://lake/t/data.avro';

interface Converted {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowGroups: number;
  readonly bytesFetched: number;
}

async function convert(
  file: Uint8Array,
  { columns, rowCount }: { readonly columns: readonly string[]; readonly rowCount: number },
  signal?: AbortSignal,
): Promise<Converted> {
  const store = new MemoryStore();
  store.put(location, file);
  const pieces: Uint8Array[] = [Buffer.from('PAR1')];
  const bytesFetched = await convertAvroFile({
    ...{ store, info: await store.head(location), rowCount, columns, start: 4, signal },
    append: async (bytes) => {
      pieces.push(Uint8Array.from(bytes));
    },
  });
  const { buffer } = Uint8Array.from(Buffer.concat(pieces));
  const rows = await parquetReadObjects({ file: buffer });
  return { rows, rowGroups: parquetMetadata(buffer).row_groups.length, bytesFetched };
}

const withDelta = (rows: readonly object[]) => rows.map((row) => ({ ...row, __row_delta: 0n }));

test('chosen columns come over, and what stands between them is passed', async () => {
  const schema = recordOf([
    { name: 'id', type: 'long', 'field-id': 1 },
    { name: 'tags', type: { type: 'map', values: { type: 'array', items: 'string' } }, 'field-id': 2 },
    { name: 'name', type: ['string', 'null'], 'field-id': 3 },
    { name: 'nothing', type: 'null' },
    { name: 'rest', type: ['null', 'int', 'string'] },
    { name: 'kind', type: { type: 'enum', name: 'k', symbols: ['a', 'b'] } },
  ]);
  const rows = Array.from({ length: 1000 }, (_unused, index) => ({
    ...{ id: BigInt(index) * 12_345_678_901n - 9n, tags: { x: ['y', 'z'] }, nothing: null, rest: index },
    ...{ name: index % 3 === 0 ? null : `n${index}`, kind: index % 2 === 0 ? 'a' : 'b' },
  }));
  const found = await convert(avroData(schema, rows), { columns: ['id', 'kind', 'name'], rowCount: 1000 });
  assert.deepEqual(found.rows, withDelta(rows.map(({ id, name, kind }) => ({ id, name, kind }))));
});

test('rows are counted where no column is wanted', async () => {
  const file = avroData(recordOf([{ name: 'id', type: 'int' }]), [{ id: 1 }, { id: 2 }]);
  assert.deepEqual((await convert(file, { columns: [], rowCount: 2 })).rows, withDelta([{}, {}]));
});

test('the ends of 64 bits, of 32 and of decimals come over', async () => {
  const decimal = { logicalType: 'decimal', precision: 20, scale: 0 };
  const schema = recordOf([
    { name: 'long', type: 'long' },
    { name: 'int', type: 'int' },
    { name: 'fixed', type: { type: 'fixed', name: 'd', size: 9, ...decimal } },
    { name: 'bytes', type: { type: 'bytes', ...decimal } },
    { name: 'wide', type: { type: 'fixed', name: 'w', size: 20, ...decimal } },
  ]);
  const longs = [2n ** 63n - 1n, -(2n ** 63n), 0n, -1n, 2n ** 32n, -(2n ** 31n), 2n ** 28n, -(2n ** 35n)];
  const rows = longs.map((long, index) => ({
    ...{ long, int: index % 2 === 0 ? 2 ** 31 - 1 : -(2 ** 31) },
    ...{ fixed: bigEndian(long, 9), bytes: bigEndian(long, 8), wide: bigEndian(long, 20) },
  }));
  const { rows: found } = await convert(avroData(schema, rows), {
    columns: ['long', 'int', 'fixed', 'bytes', 'wide'],
    rowCount: rows.length,
  });
  assert.deepEqual(
    found.map(({ long, int }) => [long, int]),
    rows.map(({ long, int }) => [long, int]),
  );
  for (const [index, { fixed, bytes, wide }] of found.entries())
    assert.deepEqual([fixed, bytes, wide], Array(3).fill(Number(longs[index])));
});

function bigEndian(value: bigint, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let index = size - 1, rest = value; index >= 0; index--, rest >>= 8n)
    bytes[index] = Number(rest & 255n);
  return bytes;
}

test('values nested in any way come over as they were', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seededRandom(seed);
    const fields: readonly Field[] = ['a', 'b', 'c'].map((name) => ({ name, type: anyType(random, 0) }));
    const schema = recordOf(fields);
    const rows = Array.from({ length: 50 }, () => anyValue(random, schema) as object);
    const columns = fields.map(({ name }) => name).slice(0, 1 + random.below(3));
    const { rows: found } = await convert(avroData(schema, rows, random.pick(['null', 'deflate'])), {
      columns,
      rowCount: 50,
    });
    const wanted = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name))),
    );
    assert.deepEqual(found.map(plain), withDelta(wanted).map(plain), `seed ${seed}`);
  }
});

function anyType(random: SeededRandom, depth: number): Schema {
  const kinds = ['int', 'long', 'double', 'string', 'boolean', 'null', 'array', 'map', 'record'];
  const kind = random.pick(depth < 3 ? kinds : kinds.slice(0, 5));
  switch (kind) {
    case 'null': {
      const inner = anyType(random, depth + 1);
      return Array.isArray(inner) ? inner : random.pick([['null', inner], [inner, 'null'], [inner]]);
    }
    case 'array':
      return { type: 'array', items: anyType(random, depth + 1) };
    case 'map':
      return { type: 'map', values: anyType(random, depth + 1) };
    case 'record':
      return {
        ...{ type: 'record', name: `r${random.below(1e9)}` },
        fields: ['x', 'y'].map((name) => ({ name, type: anyType(random, depth + 1) })),
      };
    default:
      return kind;
  }
}

function anyValue(random: SeededRandom, schema: Schema): unknown {
  if (Array.isArray(schema)) return anyValue(random, random.pick(schema as readonly Schema[]));
  const { type, items, values, fields } =
    typeof schema === 'object' && 'type' in schema ? schema : { type: schema };
  const count = random.below(4);
  switch (type) {
    case 'record':
      return Object.fromEntries((fields ?? []).map((field) => [field.name, anyValue(random, field.type)]));
    case 'array':
      return Array.from({ length: count }, () => anyValue(random, items ?? 'null'));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: count }, (_unused, index) => [`k${index}`, anyValue(random, values ?? 'null')]),
      );
    case 'int':
      return random.below(2000) - 1000;
    case 'long':
      return BigInt(random.below(2 ** 48)) * BigInt(random.below(2 ** 15)) - 2n ** 60n;
    case 'double':
      return random.next();
    case 'string':
      return 'ü'.repeat(count);
    case 'boolean':
      return count > 1;
    default:
      return null;
  }
}

/** The reader of these tests tells nothing from null in some places. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each === 'bigint') return `${each}n`;
      return each === undefined ? null : each;
    }),
  );
}

test('a large file becomes several row groups, and is fetched once', async () => {
  const schema = recordOf([
    { name: 'id', type: 'int' },
    { name: 'text', type: 'string' },
  ]);
  const count = 20_000;
  const rows = Array.from({ length: count }, (_unused, id) => ({ id, text: 'x'.repeat(1000) }));
  const file = avroData(schema, rows, 'null');
  const found = await convert(file, { columns: ['id', 'text'], rowCount: count });
  assert.deepEqual([found.rows.length, found.rowGroups, found.bytesFetched], [count, 3, file.length]);
  assert.ok(found.rows.every(({ id, text }, index) => id === index && (text as string).length === 1000));
});

test('a file with other rows than its manifest says is refused', async () => {
  const file = avroData(recordOf([{ name: 'id', type: 'int' }]), [{ id: 1 }, { id: 2 }]);
  for (const [rowCount, found] of [
    [1, 'more'],
    [3, '2'],
  ] as const)
    await assert.rejects(convert(file, { columns: ['id'], rowCount }), {
      code: 'DATA_CORRUPT',
      message: `s3://lake/t/data.avro has ${found} rows; the table's metadata says ${rowCount}.`,
    });
});

test('a record that unfolds without end is stopped', async () => {
  const wide = {
    ...{ type: 'record', name: 'wide' },
    fields: Array.from({ length: 2000 }, (_unused, index) => ({ name: `f${index}`, type: optional('int') })),
  };
  const schema = recordOf([{ name: 'list', type: { type: 'array', items: optional(wide) } }]);
  const file = avroData(schema, [{ list: Array<null>(100_000).fill(null) }]);
  await assert.rejects(convert(file, { columns: ['list'], rowCount: 1 }), {
    code: 'DATA_CORRUPT',
    message: /data\.avro is not a valid Avro file: a record has more than/,
  });
});

test('a conversion ends when nobody wants it any more', async () => {
  const file = avroData(recordOf([{ name: 'id', type: 'int' }]), Array(100_000).fill({ id: 1 }));
  const reason = new QueryError('CANCELLED', 'The query was cancelled.');
  await assert.rejects(convert(file, { columns: ['id'], rowCount: 100_000 }, AbortSignal.abort(reason)), {
    code: 'CANCELLED',
  });
});

test('what the disk says of the writing is passed on', async () => {
  const store = new MemoryStore();
  store.put(location, avroData(recordOf([{ name: 'id', type: 'int' }]), [{ id: 1 }]));
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  const info = await store.head(location);
  const append = () => Promise.reject(full);
  await assert.rejects(
    convertAvroFile({ store, info, rowCount: 1, columns: ['id'], start: 4, append }),
    (error) => error === full,
  );
});

test('any damage is an error that names the file, or goes unnoticed', async () => {
  const schema = recordOf([
    { name: 'id', type: 'long' },
    { name: 'list', type: { type: 'array', items: optional('string') } },
    { name: 's', type: optional({ type: 'record', name: 's', fields: [{ name: 'd', type: 'double' }] }) },
  ]);
  const rows = Array.from({ length: 20 }, (_unused, id) => ({
    id,
    list: ['a', null],
    s: id > 9 ? null : { d: id },
  }));
  const file = avroData(schema, rows, 'null');
  const random = seededRandom(11);
  for (let round = 0; round < 400; round++) {
    const damaged = Uint8Array.from(file);
    for (let times = 1 + random.below(3); times > 0; times--)
      damaged[random.below(damaged.length)] = random.below(256);
    const end = random.below(4) === 0 ? random.below(damaged.length) : damaged.length;
    const store = new MemoryStore();
    store.put(location, damaged.subarray(0, end));
    const info = { ...(await store.head(location)), avroRows: 20 };
    try {
      await createFooterCache({ maxBytes: 1 << 20 }).get(store, info);
      await convertAvroFile({
        ...{ store, info, rowCount: 20, columns: ['id', 'list', 's'], start: 4 },
        append: async () => undefined,
      });
    } catch (error) {
      assert.ok(error instanceof QueryError, String(error));
      assert.match(error.code, /^(DATA_CORRUPT|UNSUPPORTED_TABLE_FEATURE)$/);
      assert.match(error.message, /data\.avro/);
    }
  }
});

/** Whole columns read page by page are what the engine reads of the same file, row by row, and damage is told apart. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { EngineMessage, EngineResult } from '@svc/engine';
import { encapsulateHeader } from '@svc/flight/arrow';
import { createFileStore, type DirectRead, type NestedField, planDirectRead } from '@svc/lake';
import { seededRandom } from '../soak/seeded-random.js';
import { type EngineScope, withEngine } from './engine-scope.js';

type Column = readonly [name: string, type: NestedField['type'], sql: string];

const rowCount = 50_000;
const decimal = (precision: number, scale: number) => ({ kind: 'decimal', precision, scale }) as const;

/** Every type that is read so; with and without nulls, of few values (a dictionary) and of many. */
const columns: readonly Column[] = [
  ['id', { kind: 'long' }, 'i'],
  ['flag', { kind: 'boolean' }, 'i % 3 = 0'],
  ['flag_null', { kind: 'boolean' }, 'CASE WHEN i % 5 > 0 THEN i % 2 = 0 END'],
  ['few_int', { kind: 'int' }, '(i % 17 - 8)::INTEGER'],
  ['many_int', { kind: 'int' }, '(i * 7919 % 2147483647 - 1073741824)::INTEGER'],
  ['int_null', { kind: 'int' }, 'CASE WHEN (i // 100) % 3 > 0 THEN (i % 1000)::INTEGER END'],
  [
    'long_edge',
    { kind: 'long' },
    'CASE i % 4 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN i END',
  ],
  ['only_null', { kind: 'long' }, 'NULL::BIGINT'],
  [
    'real',
    { kind: 'float' },
    "CASE i % 9 WHEN 0 THEN 'NaN'::REAL WHEN 1 THEN '-0.0'::REAL WHEN 2 THEN 'inf'::REAL WHEN 3 THEN NULL ELSE i::REAL END",
  ],
  [
    'precise',
    { kind: 'double' },
    "CASE i % 900 WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE ELSE i / 7.0 END",
  ],
  ['small', decimal(4, 2), '((i % 19998 - 9999) / 100.0)::DECIMAL(4, 2)'],
  [
    'middle',
    decimal(15, 2),
    'CASE WHEN i % 6 > 0 THEN ((i * 104729 - 700000000) / 100.0)::DECIMAL(15, 2) END',
  ],
  [
    'large',
    decimal(38, 3),
    "(['99999999999999999999999999999999999.999', '-12345678901234567890123456789012345.678', '0.001']::DECIMAL(38, 3)[])[i % 3 + 1]",
  ],
  ['day', { kind: 'date' }, "DATE '1582-10-15' + (i % 200000)::INTEGER"],
  ['clock', { kind: 'time' }, 'make_time(i % 24, i % 60, i % 60 + 0.123456)'],
  [
    'moment',
    { kind: 'timestamp' },
    "TIMESTAMP '1969-12-31 23:59:59.999999' + to_microseconds(i * 86399999999 - 7)",
  ],
  [
    'instant',
    { kind: 'timestamptz' },
    "CASE WHEN i % 13 > 0 THEN TIMESTAMPTZ '2024-03-31 00:30:00+00' + to_seconds(i) END",
  ],
  ['few_text', { kind: 'string' }, "['', 'north', 'süd', '東', '🦆 with a tail that is long'][i % 5 + 1]"],
  ['many_text', { kind: 'string' }, "CASE WHEN i % 8 > 0 THEN repeat(md5(i::VARCHAR), i % 4) || 'é' END"],
  [
    'bytes',
    { kind: 'binary' },
    "CASE WHEN i % 4 > 0 THEN unhex(md5((i % 999)::VARCHAR)) || '\\x00\\xFF'::BLOB END",
  ],
];

const selected = columns.map(([name, , sql]) => `${sql} AS ${name}`).join(', ');

test('every codec and page version reads as the engine reads it', () =>
  withEngine(async (scope) => {
    for (const version of ['V1', 'V2'])
      for (const codec of ['uncompressed', 'snappy', 'gzip', 'zstd'])
        for (const dictionary of ['', ', DICTIONARY_SIZE_LIMIT 1']) {
          const options = `FORMAT parquet, CODEC ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 20480${dictionary}`;
          const path = await writeParquet(scope, `${codec}-${version}${dictionary.length}`, options);
          const direct = await planned(scope, path, columns);
          // Version 2 of the writer has encodings of its own, which the engine is left to read.
          if (direct === undefined) {
            assert.equal(version, 'V2', options);
            continue;
          }
          assert.equal(await difference(scope, direct, path), `${rowCount} ${rowCount} 0`, options);
        }
  }));

test('texts of any length arrive, until one is too long for a message', () =>
  withEngine(async (scope) => {
    const text: Column = ['text', { kind: 'string' }, ''];
    const cases = {
      short: "repeat('x', i % 3)",
      long: "repeat('é', (i % 40) * 1000)",
      alone: "repeat('y', 5000000)",
    };
    for (const [name, sql] of Object.entries(cases)) {
      const content = `SELECT ${sql} AS text FROM range(${name === 'alone' ? 3 : 2000}) r(i)`;
      const path = await writeParquet(scope, name, 'FORMAT parquet', content);
      const direct = await planned(scope, path, [text]);
      assert.ok(direct);
      assert.match(await difference(scope, direct, path), /^(\d+) \1 0$/, name);
    }
    const path = await writeParquet(scope, 'huge', 'FORMAT parquet', `SELECT repeat('z', 20000000) AS text`);
    const direct = await planned(scope, path, [text]);
    assert.ok(direct);
    await assert.rejects(
      read(scope, direct, path).then((result) => messagesOf(result)),
      { code: 'RESULT_TOO_LARGE' },
    );
  }));

test('what the reader of pages does not know is left to the engine', () =>
  withEngine(async (scope) => {
    const content = "SELECT [1] AS list, uuid() AS id, 1::SMALLINT AS small, 'x' AS text";
    const path = await writeParquet(scope, 'others', 'FORMAT parquet, CODEC brotli', content);
    assert.equal(await planned(scope, path, [['list', { kind: 'string' }, '']]), undefined);
    assert.equal(await planned(scope, path, [['id', { kind: 'uuid' }, '']]), undefined);
    assert.equal(await planned(scope, path, [['text', { kind: 'string' }, '']]), undefined, 'brotli');
    assert.equal(await planned(scope, path, [['missing', { kind: 'string' }, '']]), undefined);
    assert.equal(await planned(scope, path, []), undefined);
  }));

test('damaged pages answer values or an error that names the file, and nothing stays of it', () =>
  withEngine(async (scope) => {
    const random = seededRandom(20_26);
    for (const codec of ['uncompressed', 'zstd']) {
      const options = `FORMAT parquet, CODEC ${codec}, PARQUET_VERSION V1, ROW_GROUP_SIZE 20480`;
      const path = await writeParquet(scope, `sound-${codec}`, options);
      const direct = await planned(scope, path, columns);
      assert.ok(direct);
      const sound = await readFile(path);
      const damaged = join(scope.lease.inputDirectory, 'damaged.parquet');
      const files = direct.files.map((file) => ({ ...file, path: damaged }));
      let refused = 0;
      for (let round = 0; round < 60; round++) {
        const bytes = Buffer.from(sound);
        for (let flips = random.between(1, 20); flips > 0; flips--)
          bytes[random.between(4, sound.length - 20_000)] = random.between(0, 255);
        await writeFile(damaged, bytes);
        try {
          await messagesOf(await read(scope, { ...direct, files }, path));
        } catch (error) {
          assert.ok(error instanceof QueryError);
          assert.match(error.code, /^(DATA_CORRUPT|UNSUPPORTED_TABLE_FEATURE)$/, error.message);
          assert.match(error.message, /damaged\.parquet|different numbers of rows/);
          refused += 1;
        }
      }
      assert.ok(refused > 10, `${refused} of 60 were refused`);
      assert.equal(await difference(scope, direct, path), `${rowCount} ${rowCount} 0`);
    }
  }));

async function writeParquet(
  scope: EngineScope,
  name: string,
  options: string,
  content?: string,
): Promise<string> {
  const path = join(scope.lease.inputDirectory, `${name}.parquet`);
  const query = content ?? `SELECT ${selected} FROM range(${rowCount}) r(i)`;
  await scope.lease.execute([`COPY (${query}) TO '${path}' (${options})`]);
  return path;
}

/** What the lake says of a file as if it were a table's only one. */
async function planned(
  scope: EngineScope,
  path: string,
  list: readonly Column[],
): Promise<DirectRead | undefined> {
  const sources = list.map(([name, type]) => ({ kind: 'column', name, isExactType: true, type }) as const);
  return await planDirectRead({
    columns: list.map(([name, type], index) => ({ index, name, type })),
    groups: [{ sources, paths: [path], locations: [path], hasRowDelta: true }],
    files: [],
    store: createFileStore(),
    footers: scope.footers,
  });
}

async function read({ lease }: EngineScope, direct: DirectRead, path: string): Promise<EngineResult> {
  const { schema } = await lease.describe({ sql: `SELECT * FROM read_parquet('${path}')` });
  return await lease.readParquet({ ...direct, schema });
}

/** Rows read, rows of the file, and in how many of them any column differs at the same position. */
async function difference(scope: EngineScope, direct: DirectRead, path: string): Promise<string> {
  const { lease, text } = scope;
  const result = await read(scope, direct, path);
  const stream = [result.schema, ...(await messagesOf(result))];
  await lease.execute([`CREATE OR REPLACE TABLE direct AS SELECT * FROM read_parquet('${path}') LIMIT 0`]);
  await lease.ingest({ table: 'direct' }, piecesOf(stream));
  const differs = direct.columns.map(({ name }) => `d.${name} IS DISTINCT FROM e.${name}`).join(' OR ');
  return await text(`SELECT (SELECT count(*) FROM direct) || ' ' || count(*) || ' ' || count(*) FILTER (${differs})
    FROM direct d POSITIONAL JOIN read_parquet('${path}') e`);
}

async function messagesOf(result: EngineResult): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  for await (const message of result.messages) {
    messages.push(encapsulated(message));
    message.release();
  }
  return messages;
}

/** The message as it stands in an IPC stream. */
function encapsulated({ header, body }: EngineMessage): Buffer {
  return Buffer.concat([encapsulateHeader(header), body]);
}

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

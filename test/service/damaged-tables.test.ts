/** Corrupt or truncated Parquet, Avro, metadata: an error that names the file; other tables and queries unharmed. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FlightClient } from '@svc/flight';
import { rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';

type Damage = (path: string) => Promise<void>;

/** What is done to which file of a table, and the code that a query must answer. */
const damages: Readonly<Record<string, readonly [file: FileOfTable, damage: Damage, code: string]>> = {
  parquet_missing: [dataFile, remove, 'DATA_FILE_MISSING'],
  parquet_empty: [dataFile, cutTo(0), 'DATA_CORRUPT'],
  parquet_half: [dataFile, cutTo(0.5), 'DATA_CORRUPT'],
  parquet_last_byte: [dataFile, cutTo(0.99999), 'DATA_CORRUPT'],
  parquet_pages: [dataFile, flip(0.2, 5000), 'DATA_CORRUPT'],
  parquet_footer_length: [dataFile, flip(-8, 4), 'DATA_CORRUPT'],
  parquet_footer: [dataFile, flip(-900, 300), 'DATA_CORRUPT'],
  parquet_text: [dataFile, replaceBy('no Parquet at all'), 'DATA_CORRUPT'],
  manifest_missing: [manifest, remove, 'DATA_FILE_MISSING'],
  manifest_empty: [manifest, cutTo(0), 'DATA_CORRUPT'],
  manifest_half: [manifest, cutTo(0.5), 'DATA_CORRUPT'],
  manifest_text: [manifest, replaceBy('Obj'), 'DATA_CORRUPT'],
  manifest_sync: [manifest, flip(-8, 4), 'DATA_CORRUPT'],
  list_missing: [manifestList, remove, 'DATA_FILE_MISSING'],
  list_half: [manifestList, cutTo(0.5), 'DATA_CORRUPT'],
  list_sync: [manifestList, flip(-8, 4), 'DATA_CORRUPT'],
  metadata_half: [metadata, cutTo(0.5), 'DATA_CORRUPT'],
  metadata_empty: [metadata, cutTo(0), 'DATA_CORRUPT'],
  metadata_text: [metadata, replaceBy('no JSON'), 'DATA_CORRUPT'],
  metadata_array: [metadata, replaceBy('[]'), 'DATA_CORRUPT'],
  metadata_object: [metadata, replaceBy('{}'), 'DATA_CORRUPT'],
  metadata_deep: [metadata, replaceBy('['.repeat(1_000_000)), 'DATA_CORRUPT'],
};

const sound = 'SELECT i::BIGINT AS id, md5(i::VARCHAR) AS note FROM range(10000) r(i)';

let service: TestService;
let client: FlightClient;
const damagedFiles = new Map<string, string>();
before(async () => {
  const names = ['sound', ...Object.keys(damages)];
  service = await startService({
    tables: Object.fromEntries(names.map((name) => [`t.${name}`, sound])),
    async prepare(_path, locations) {
      for (const [name, [file, damage]] of Object.entries(damages)) {
        const path = await file(locations.get(`t.${name}`) ?? '');
        damagedFiles.set(name, path);
        await damage(path);
      }
    },
  });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('a damaged file', () => {
  for (const [name, [, , code]] of Object.entries(damages)) {
    it(`is named by the error: ${name}`, async () => {
      for (const sql of [
        `SELECT min(note), max(id) FROM t.${name}`,
        `SELECT note, id FROM t.${name}`,
        `SELECT id, note FROM t.${name} WHERE id BETWEEN 100 AND 9000`,
        `SELECT count(s.id) FROM t.sound s JOIN t.${name} d ON s.note = d.note`,
      ]) {
        await assert.rejects(rows(client, sql), (error) => {
          assert.ok(error instanceof QueryError);
          assert.equal(error.code, code, error.message);
          assert.ok(error.message.includes(damagedFiles.get(name) ?? '?'), error.message);
          assert.doesNotMatch(error.message, /\n\s+at /);
          return true;
        });
      }
    });
  }

  it('hides no other table', async () => {
    assert.equal((await rows(client, 'SHOW TABLES IN t')).length, Object.keys(damages).length + 1);
  });

  it('harms no other query, before, beside or after it', async () => {
    const queries = Object.keys(damages).flatMap((name) => [
      rows(client, `SELECT min(note) FROM t.${name}`).catch(() => 'failed'),
      rows(client, 'SELECT count(*), min(note) FROM t.sound'),
    ]);
    const answers = await Promise.all(queries);
    const expected = [[10_000n, '00003e3b9e5336685200ae85d21b4f5e']];
    for (const [index, answer] of answers.entries())
      assert.deepEqual(answer, index % 2 === 0 ? 'failed' : expected);
  });

  it('is no defect of ours: nothing of it is logged as one', () => {
    const defects = service.logRecords().filter(({ level }) => level === 'error');
    assert.deepEqual(defects, []);
  });
});

describe('a version hint', () => {
  it('that is wrong or garbage is only a hint', async () => {
    const location = service.locations.get('t.sound') ?? '';
    for (const text of ['99', 'garbage', '', '1\n', '-1', '../../etc/passwd']) {
      await writeFile(join(location, 'metadata', 'version-hint.text'), text);
      assert.deepEqual(await rows(client, 'SELECT count(*) FROM t.sound'), [[10_000n]]);
    }
  });
});

type FileOfTable = (location: string) => Promise<string>;

function dataFile(location: string): Promise<string> {
  return find(join(location, 'data'), /\.parquet$/);
}

function manifest(location: string): Promise<string> {
  return find(join(location, 'metadata'), /-m0\.avro$/);
}

function manifestList(location: string): Promise<string> {
  return find(join(location, 'metadata'), /^snap-.*\.avro$/);
}

async function metadata(location: string): Promise<string> {
  return join(location, 'metadata', 'v1.metadata.json');
}

async function find(folder: string, pattern: RegExp): Promise<string> {
  const name = (await readdir(folder)).find((each) => pattern.test(each));
  assert.ok(name !== undefined, `${folder} has no ${pattern}`);
  return join(folder, name);
}

async function remove(path: string): Promise<void> {
  await rm(path);
}

/** Keeps a share of the file. */
function cutTo(share: number): Damage {
  return async (path) => await truncate(path, Math.floor((await stat(path)).size * share));
}

/** Inverts some bytes, from a share of the file or, when negative, so many bytes before its end. */
function flip(start: number, count: number): Damage {
  return async (path) => {
    const bytes = await readFile(path);
    const first = start < 0 ? bytes.length + start : Math.floor(bytes.length * start);
    for (let at = first; at < first + count; at += 1) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    await writeFile(path, bytes);
  };
}

function replaceBy(text: string): Damage {
  return async (path) => await writeFile(path, text);
}

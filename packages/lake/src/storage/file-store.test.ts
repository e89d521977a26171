import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createFileStore } from './file-store.js';

const store = createFileStore();
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

test('answers ranges in the order asked', async () => {
  const path = await file('ranges', '0123456789');
  const ranges = [
    { start: 7, end: 10 },
    { start: 0, end: 0 },
    { start: 1, end: 3 },
  ];
  assert.deepEqual((await store.readRanges(path, ranges)).map(text), ['789', '', '12']);
});

test('opens plain paths and every form of file URI', async () => {
  const path = await file('forms', 'x');
  for (const location of [path, `file:${path}`, `file://${path}`, `file://localhost${path}`])
    assert.equal((await store.head(location)).sizeBytes, 1, location);
});

test('reads a percent sign literally, as table writers mean it, and decoded when only that exists', async () => {
  await file('name=a%2Fb', 'literal');
  await file('with space é', 'decoded');
  assert.equal(text(await store.read(`file://${folder}/name=a%2Fb`)), 'literal');
  assert.equal(text(await store.read(pathToFileURL(join(folder, 'with space é')).href)), 'decoded');
  assert.equal(store.localPath(`file://${folder}/100%`), join(folder, '100%'));
});

test('names a missing file', async () => {
  const missing = join(folder, 'none', 'a.parquet');
  const expected = { code: 'DATA_FILE_MISSING', message: `The file ${missing} does not exist.` };
  await assert.rejects(store.read(missing), expected);
  await assert.rejects(store.head(missing), expected);
  await assert.rejects(store.readRanges(missing, [{ start: 0, end: 1 }]), expected);
});

test('a range beyond the end is corrupt data, whatever its size', async () => {
  const path = await file('short', 'abc');
  for (const end of [4, Number.MAX_SAFE_INTEGER])
    await assert.rejects(store.readRanges(path, [{ start: 1, end }]), {
      code: 'DATA_CORRUPT',
      message: new RegExp(`^${path} has 3 bytes`),
    });
  await assert.rejects(store.readRanges(path, [{ start: -1, end: 2 }]), { code: 'DATA_CORRUPT' });
  await assert.rejects(store.readRanges(path, [{ start: 2, end: 1 }]), { code: 'DATA_CORRUPT' });
});

test('refuses other schemes, other hosts, NUL, folders and devices', async () => {
  await assert.rejects(store.head('s3://bucket/key'), { code: 'NOT_SUPPORTED' });
  await assert.rejects(store.head('file://server/share/key'), { code: 'NOT_SUPPORTED' });
  await assert.rejects(store.head(join(folder, 'a\0b')), { code: 'DATA_FILE_MISSING' });
  await assert.rejects(store.read(folder), { code: 'STORAGE_ERROR' });
  await assert.rejects(store.read('/dev/zero'), {
    code: 'STORAGE_ERROR',
    message: '/dev/zero is not a file.',
  });
});

test('refuses bytes of another version than the one asked for', async () => {
  const path = await file('versioned', 'one');
  const { version } = await store.head(path);
  assert.equal(text(await store.read(path, { version })), 'one');
  await store.write(path, Buffer.from('two'));
  await assert.rejects(store.read(path, { version }), { code: 'STORAGE_ERROR' });
  assert.equal(text(await store.read(path)), 'two');
});

test('writes whole files, makes their folder but not the one above it, and leaves nothing aside', async () => {
  const path = join(folder, 'written', 'file');
  const info = await store.write(path, Buffer.from('body'));
  assert.deepEqual(await store.head(path), info);
  await assert.rejects(store.write(path, Buffer.from('other'), { ifAbsent: true }), {
    code: 'COMMIT_CONFLICT',
  });
  assert.equal(text(await store.read(path)), 'body');
  assert.deepEqual(await readdir(join(folder, 'written')), ['file']);
  const deeper = store.write(join(folder, 'gone', 'deep', 'file'), Buffer.from('body'));
  await assert.rejects(deeper, { code: 'DATA_FILE_MISSING' });
  assert.ok(!(await readdir(folder)).includes('gone'));
});

test('of many writers that want the file to be absent exactly one succeeds', async () => {
  const path = join(folder, 'contended');
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => store.write(path, Buffer.from(`${i}`), { ifAbsent: true })),
  );
  const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
  assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1);
  assert.equal(text(await store.read(path)), `${winner}`);
});

test('lists names with folders marked, links followed, and a missing folder as empty', async () => {
  await mkdir(join(folder, 'listed', 'sub'), { recursive: true });
  await file('listed/b', '');
  await symlink(join(folder, 'listed', 'sub'), join(folder, 'listed', 'a'));
  await symlink(join(folder, 'nowhere'), join(folder, 'listed', 'dangling'));
  assert.deepEqual(await store.list(join(folder, 'listed')), [
    { name: 'a', isFolder: true },
    { name: 'b', isFolder: false },
    { name: 'dangling', isFolder: false },
    { name: 'sub', isFolder: true },
  ]);
  assert.deepEqual(await store.list(join(folder, 'missing')), []);
});

test('deletes, twice without complaint', async () => {
  const path = await file('deleted', '');
  await store.delete(path);
  await store.delete(path);
  await assert.rejects(store.head(path), { code: 'DATA_FILE_MISSING' });
});

test('an aborted signal stops every call before the disk is touched', async () => {
  const signal = AbortSignal.abort();
  const path = join(folder, 'aborted');
  const calls = [
    () => store.head(path, { signal }),
    () => store.read(path, { signal }),
    () => store.readRanges(path, [], { signal }),
    () => store.list(path, { signal }),
    () => store.write(path, Buffer.from(''), { signal }),
    () => store.delete(path, { signal }),
  ];
  for (const call of calls) await assert.rejects(call, { code: 'CANCELLED' });
});

/**
 * Disk full at staging, spill or spool: a clear error for that one query, and everything works again afterwards. Under the
 * audit log: nothing runs until there is room, and no line is lost.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { rows, value } from './support/results.js';
import { startService, type TestService, type TestServiceOptions } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

/** 48 MB that do not compress. */
const wide = `SELECT i::BIGINT AS id, sha256(i::VARCHAR) || sha256((-i)::VARCHAR) || sha256((i * 7)::VARCHAR) AS note
  FROM range(400000) r(i)`;
const sortedByDigest = 'SELECT * FROM (SELECT *, md5(note) AS m FROM sales.wide) ORDER BY m';
const tables = { ...standardTables, 'sales.wide': wide };

let service: TestService;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await disk?.[Symbol.asyncDispose]();
  disk = undefined;
});

async function start(config: TestServiceOptions['config']) {
  service = await startService({ tables, config: { 'query.memory_limit': '128MiB', ...config } });
  return await service.client();
}

describe('a spill budget that is used up', () => {
  it('ends the query with DISK_FULL and no other', async () => {
    const client = await start({ 'engine.spill_bytes': '8MB' });
    const beside = value(client, 'SELECT count(*) FROM sales.orders');
    await assert.rejects(rows(client, sortedByDigest), isDiskFull);
    assert.equal(await beside, 20_480n);
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders'), 20_480n);
  });
});

describe('a disk that is full', { skip: canMount() ? false : 'only root can mount a small disk' }, () => {
  it('at staging ends the query, naming the file, and leaves room for the next', async () => {
    disk = await mountSmallDisk(24);
    const client = await start({ 'server.data_dir': disk.path });
    await assert.rejects(rows(client, 'SELECT max(note) FROM sales.wide'), (error) => {
      isDiskFull(error);
      assert.match(String(error), /sales\/wide\/data\/.*\.parquet/);
      return true;
    });
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders WHERE amount > 0'), 20_479n);
    assert.equal(await value(client, 'SELECT max(length(note)) FROM sales.wide WHERE id < 2000'), 192n);
  });

  it('at spill ends the query and no other', async () => {
    disk = await mountSmallDisk(64);
    const client = await start({ 'server.data_dir': disk.path });
    await assert.rejects(rows(client, sortedByDigest), isDiskFull);
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders WHERE amount > 0'), 20_479n);
  });

  it('at spooling ends the result of the sleeper and frees the host', async () => {
    disk = await mountSmallDisk(16);
    const client = await start({ 'server.data_dir': disk.path, 'query.max_concurrent': 1 });
    const { tickets } = await client.planStatement('SELECT a.id, b.note FROM sales.orders a, sales.items b');
    const messages = client.read(tickets[0] ?? new Uint8Array());
    await messages.next();
    await messages.next();
    const other = await service.client();
    assert.equal(await value(other, 'SELECT count(*) FROM sales.orders'), 20_480n);
    await assert.rejects(async () => {
      for await (const _message of messages);
    }, isDiskFull);
  });
});

describe('a disk that is full under the audit log', {
  skip: canMount() ? false : 'only root can mount a small disk',
}, () => {
  it('lets nothing run until there is room, and no line is lost or torn', async () => {
    disk = await mountSmallDisk(1);
    const path = join(disk.path, 'audit.jsonl');
    const ballast = join(disk.path, 'ballast');
    const client = await start({ 'metrics.audit_log_path': path });
    // Eleven and a half lines of this length fill a page: the last one is cut, however many digits its times have.
    const statement = (number: number) => `SELECT ${number} -- ${'.'.repeat(38)}`;
    await value(client, statement(0));
    await until('the first line', async () => (await readFile(path, 'utf8')).endsWith('\n'));
    // All room but for the rest of the page that the first line is on.
    await assert.rejects(writeFile(ballast, Buffer.alloc(2 ** 20)), { code: 'ENOSPC' });
    const ran = [0];
    await until('a refusal', async () => {
      const answer = await value(client, statement(ran.length)).catch((error: unknown) => error);
      if (answer instanceof QueryError) assert.equal(answer.code, 'AUDIT_UNAVAILABLE');
      else ran.push(ran.length);
      return answer instanceof QueryError;
    });
    assert.equal((await readFile(path, 'utf8')).endsWith('\n'), false, 'a line is cut');
    await rm(ballast);
    await until('an answer', async () => (await value(client, statement(-1)).catch(() => undefined)) === -1);
    await service.coordinator.destroy();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    const entries = lines.map((line): { query_text: string; status: string } => JSON.parse(line));
    const ok = entries.filter(({ status }) => status === 'ok').map(({ query_text }) => query_text);
    assert.deepEqual(ok, [...ran, -1].map(statement));
  });
});

function isDiskFull(error: unknown): true {
  assert.ok(error instanceof QueryError, String(error));
  assert.equal(error.code, 'DISK_FULL', error.message);
  assert.equal(error.retryable, true);
  assert.doesNotMatch(error.message, /\n\s+at |ENOSPC/);
  return true;
}

interface SmallDisk extends AsyncDisposable {
  readonly path: string;
}

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return probe.status === 0;
}

async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'svc-small-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  assert.equal(mounted.status, 0, String(mounted.stderr));
  return {
    path,
    async [Symbol.asyncDispose]() {
      spawnSync('umount', ['--lazy', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

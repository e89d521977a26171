/** The lock of token scans against a real Redis. Run by `npm run test:peers -- sessions`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { promisify } from 'node:util';
import { createLogger, createMetrics, parseLogFilter } from '@svc/base';
import { openScanLock, type ScanLock } from '@svc/coordinator';
import { until } from '../../service/support/until.js';
import type { Turn } from './lock-member.js';
import { type RedisOptions, type RunningRedis, redisModule, servers } from './session-servers.js';

const run = promisify(execFile);
const never = new AbortController().signal;
const { startRedis, startRedisCluster } = await redisModule();
const password = 'p@ss w/ord';

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop();
});

test('five processes take turns, and all of them get theirs', async () => {
  const { url } = await redis('turns');
  const turns = await Promise.all(Array.from({ length: 5 }, () => member(url, { turns: 10, turnMs: 20 })));
  const all = turns.flat().sort((left, right) => left.fromMs - right.fromMs);
  assert.equal(all.length, 50);
  assert.ok(all.every(({ isAlone }) => isAlone));
  for (const [index, { toMs }] of all.entries())
    assert.ok(toMs <= (all[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY), 'two had it at once');
});

test('a password, TLS and a user are given as the URL says', async () => {
  const { url, certificate } = await redis('secured', { tls: true, password });
  assert.match(url, /^rediss:/);
  const trusting = { NODE_EXTRA_CA_CERTS: certificate };
  assert.deepEqual(await aloneIn(url, trusting), [true]);
  const named = url.replace('//:', '//default:');
  assert.deepEqual(await aloneIn(named, trusting), [true]);
});

test('a certificate that nobody vouches for is not accepted', async () => {
  const { url } = await redis('self-signed', { tls: true });
  const { turns, log } = await loggedMember(url);
  assert.deepEqual(
    turns.map(({ isAlone }) => isAlone),
    [false],
  );
  assert.match(log, /certificate/);
});

test('a cluster is asked where the lock is, by any of its nodes', async () => {
  const cluster = await startRedisCluster(path.join(servers.folder, 'cluster'), { password });
  opened.push(cluster);
  assert.deepEqual(await aloneIn(cluster.url), [true]);
  for (const { port } of cluster.nodes) {
    const url = `redis+cluster://:${encodeURIComponent(password)}@127.0.0.1:${port}`;
    assert.deepEqual(await aloneIn(url), [true]);
  }
});

test('a wrong password is a warning without it', async () => {
  const { url } = await redis('passwords', { password });
  const { turns, log } = await loggedMember(url.replace(encodeURIComponent(password), 'not-the-one'));
  assert.deepEqual(
    turns.map(({ isAlone }) => isAlone),
    [false],
  );
  assert.match(log, /WRONGPASS|NOAUTH/);
  assert.doesNotMatch(log, /not-the-one/);
});

test('a Redis that is killed while the lock is held stops nobody, and serves again when it is back', async () => {
  const first = await redis('killed');
  const { lock } = await open(first.url);
  await lock.run(async (isAlone) => {
    assert.equal(isAlone, true);
    await first.kill();
  }, never);
  assert.equal(await turn(lock), false);
  await redis('back', { port: first.port });
  await until('the lock is had again', () => turn(lock), 20_000);
});

test('a Redis that stalls is waited for no longer than five seconds, and serves again when it goes on', async () => {
  const { url, pid } = await redis('stalled');
  const { lock, records } = await open(url);
  assert.equal(await turn(lock), true);
  process.kill(pid, 'SIGSTOP');
  try {
    assert.equal(await turn(lock), false);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until('the lock is had again', () => turn(lock), 20_000);
  assert.ok(records().every(({ level }) => level !== 'error'));
});

const refusals = {
  'is a replica': ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
  'is out of memory': ['CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
} as const;
for (const [title, [spoil, mend]] of Object.entries(refusals)) {
  test(`a Redis that ${title} stops nobody, and serves again when it is mended`, async () => {
    const { url, port } = await redis(title.replaceAll(' ', '-'));
    const { lock } = await open(url);
    await command(port, spoil);
    assert.equal(await turn(lock), false);
    await command(port, mend);
    await until('the lock is had again', () => turn(lock), 20_000);
  });
}

test('a lock that another one holds is left to it', async () => {
  const { url, port } = await redis('held');
  const { lock } = await open(url);
  await command(port, 'SET svc:token-scan-lock somebody PX 60000');
  assert.equal(await turn(lock), false);
  assert.match(await command(port, 'GET svc:token-scan-lock'), /somebody/);
  await command(port, 'DEL svc:token-scan-lock');
  assert.equal(await turn(lock), true);
  assert.match(await command(port, 'EXISTS svc:token-scan-lock'), /:0/);
});

test('a process that stalls with the lock does not free it under the next one', async () => {
  const { url, port } = await redis('stolen');
  const { lock } = await open(url);
  await lock.run(async () => {
    // As if it had run out and been taken by another coordinator.
    await command(port, 'SET svc:token-scan-lock somebody PX 60000');
  }, never);
  assert.match(await command(port, 'GET svc:token-scan-lock'), /somebody/);
});

async function redis(name: string, options?: RedisOptions): Promise<RunningRedis> {
  const started = await startRedis(path.join(servers.folder, name), options);
  opened.push(started);
  return started;
}

async function open(url: string) {
  const lines: string[] = [];
  const lock = await openScanLock({
    config: { 'coordinator.redis_url': url },
    logger: createLogger('lock', { write: (line) => lines.push(line), filter: parseLogFilter('trace') }),
    metrics: createMetrics(),
  });
  opened.push({ stop: async () => lock.close() });
  await until('the server is reached', () => turn(lock));
  return { lock, records: () => lines.map((line): { readonly level: string } => JSON.parse(line)) };
}

/** Whether the lock was had. */
async function turn(lock: ScanLock): Promise<boolean> {
  let wasAlone = false;
  await lock.run(async (isAlone) => {
    wasAlone = isAlone;
  }, never);
  return wasAlone;
}

interface MemberOptions {
  readonly turns?: number;
  readonly turnMs?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A process of its own: what certificates it trusts is settled when it starts. */
async function loggedMember(url: string, { turns = 1, turnMs = 1, env = {} }: MemberOptions = {}) {
  const { stdout, stderr } = await run(process.execPath, [path.join(import.meta.dirname, 'lock-member.js')], {
    env: { ...env, LOCK_URL: url, LOCK_TURNS: String(turns), LOCK_TURN_MS: String(turnMs) },
  });
  const answered: readonly Turn[] = JSON.parse(stdout);
  return { turns: answered, log: stderr };
}

async function member(url: string, options: MemberOptions): Promise<readonly Turn[]> {
  return (await loggedMember(url, options)).turns;
}

async function aloneIn(url: string, env: MemberOptions['env'] = {}): Promise<readonly boolean[]> {
  return (await member(url, { env })).map(({ isAlone }) => isAlone);
}

/** Redis takes a command as a line of text, too. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    socket.once('error', reject).once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString());
    });
  });
}

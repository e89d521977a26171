/**
 * Sessions that live much longer than their tokens: 200 of them over two coordinators and one Redis, which is killed on
 * the way and comes back. Run by `npm run test:peers -- sessions`, and for longer by `npm run soak`.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, test } from 'node:test';
import { delay } from '@svc/base';
import { createFlightClient, type FlightClient } from '@svc/flight';
import { value } from '../../service/support/results.js';
import { type RunningService, redisModule, servers, serviceModule } from './session-servers.js';
import { readUpkeep, type Upkeep } from './upkeep-records.js';

const sessionCount = 200;
const signInsAtOnce = 4;
/** Between two queries of a session. */
const pauseMs = 4000;
const { keycloak, folder, root, seconds } = servers;

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test(`${sessionCount} sessions outlive their tokens for ${seconds} s, whatever becomes of Redis`, async () => {
  // Which session was renewed when is told in debug records.
  Object.assign(process.env, { RUST_LOG: 'info,svc::identity=debug' });
  const redisFolder = path.join(folder, 'soak-redis');
  const { startRedis } = await redisModule();
  const redis = await startRedis(redisFolder);
  closing.push(redis.stop);
  const coordinators = [await startCoordinator('one', redis.url), await startCoordinator('two', redis.url)];
  const clients = await signInAll(coordinators);
  const sinceMs = Date.now();

  const end = new AbortController();
  const queries = Promise.all(clients.map((client) => queryUntil(end.signal, client)));
  await delay(seconds * 400);
  await redis.kill();
  const killedMs = Date.now();
  await delay(seconds * 200);
  closing.push((await startRedis(redisFolder, { port: redis.port })).stop);
  const backMs = Date.now();
  await delay(seconds * 400);
  end.abort();
  const counts = await queries;
  const untilMs = Date.now();

  assert.deepEqual(
    counts.flatMap(({ failures }) => failures),
    [],
  );
  assert.ok(counts.every(({ answered }) => answered > (seconds * 1000) / pauseMs / 4));
  for (const client of clients) client.close();
  for (const service of coordinators) assert.deepEqual(await service.stop(), []);
  const upkeep = coordinators.map((service) => readUpkeep(service.folder));
  checkRenewals(upkeep, { sinceMs, untilMs });
  checkScans(upkeep, { killedMs, backMs, untilMs });
  const renewals = upkeep.flatMap((each) => [...each.renewalsBySession.values()]).flat().length;
  const answered = counts.reduce((sum, count) => sum + count.answered, 0);
  const scans = upkeep.flatMap((each) => each.scans);
  console.log(
    `${answered} queries, ${renewals} renewals in ${scans.length} scans, ${scans.filter((scan) => !scan.alone).length} of them without the lock`,
  );
});

async function startCoordinator(name: string, redisUrl: string): Promise<RunningService> {
  const { startService } = await serviceModule();
  const [user = { username: '', password: '' }] = keycloak.shortLivedUsers;
  const service = await startService({
    root,
    folder: path.join(folder, `soak-${name}`),
    user,
    settings: {
      'auth.idp_url': keycloak.url,
      'auth.realm': keycloak.shortLivedRealm,
      'auth.client_id': keycloak.publicClientId,
      'coordinator.redis_url': redisUrl,
      // All of it shares one machine: a slow answer is no failure of the provider.
      'auth.idp_timeout_secs': 30,
    },
  });
  closing.push(() => service.stop());
  return service;
}

/** As many at each coordinator, of all users in turn. */
async function signInAll(coordinators: readonly RunningService[]): Promise<readonly FlightClient[]> {
  const clients: FlightClient[] = [];
  const waiting = Array.from({ length: sessionCount }, (_none, index) => index).values();
  const signInNext = async () => {
    for (const index of waiting) {
      const { host, flightPort: port } = pick(coordinators, index);
      const client = createFlightClient({ host, port });
      closing.push(() => client.close());
      const { username, password } = pick(keycloak.shortLivedUsers, Math.floor(index / coordinators.length));
      await client.signIn(username, password);
      clients.push(client);
    }
  };
  await Promise.all(Array.from({ length: signInsAtOnce }, signInNext));
  return clients;
}

async function queryUntil(end: AbortSignal, client: FlightClient) {
  const failures: string[] = [];
  let answered = 0;
  // Not all of them at once.
  await delay(Math.random() * pauseMs);
  while (!end.aborted) {
    try {
      assert.equal(await value(client, 'SELECT 42'), 42);
      answered += 1;
    } catch (error) {
      failures.push(String(error));
    }
    await delay(pauseMs);
  }
  return { failures, answered };
}

/**
 * Tokens live 70 s and are renewed 60 s before their end, so that they are due after 10 s, and renewed by the next scan: within
 * 10 s, and 5 s more where it waits for the lock. More of a pause is the load of the machine.
 */
function checkRenewals(
  upkeep: readonly Upkeep[],
  { sinceMs, untilMs }: Readonly<Record<string, number>>,
): void {
  const sessions = upkeep.flatMap(({ renewalsBySession }) => [...renewalsBySession]);
  assert.equal(new Set(sessions.map(([label]) => label)).size, sessionCount);
  assert.equal(sessions.length, sessionCount, 'a session was renewed by both coordinators');
  for (const [label, renewedMs] of sessions) {
    const moments = [sinceMs ?? 0, ...renewedMs, untilMs ?? 0];
    const pauses = moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0));
    assert.ok(Math.max(...pauses) < 45_000, `${label} was not renewed in time: ${pauses}`);
    // Records are of the provider's answers, the age of tokens is of the questions: a slow answer shortens a pause.
    assert.ok(Math.min(...pauses.slice(1, -1)) > 5000, `${label} was renewed twice in a period: ${pauses}`);
  }
  assert.deepEqual(
    upkeep.flatMap(({ expired }) => expired),
    [],
  );
}

/**
 * Scans that had the lock never overlap. While Redis is there, and again once it is back, all have it but one whose wait of five
 * seconds another one outlasted, which needs a slow provider.
 */
function checkScans(
  upkeep: readonly Upkeep[],
  { killedMs = 0, backMs = 0, untilMs = 0 }: Readonly<Record<string, number>>,
): void {
  const scans = upkeep.flatMap((each) => each.scans).sort((left, right) => left.fromMs - right.fromMs);
  const alone = scans.filter((scan) => scan.alone);
  for (const [index, { fromMs, toMs }] of alone.entries()) {
    const next = alone[index + 1];
    // Records round to milliseconds.
    if (next !== undefined)
      assert.ok(next.fromMs > toMs - 3, `scans overlap: ${fromMs} to ${toMs}, ${next.fromMs}`);
  }
  const reconnectMs = 15_000;
  for (const { fromMs, toMs, alone: isAlone } of scans) {
    if (isAlone || (toMs > killedMs && fromMs < backMs + reconnectMs)) continue;
    // It may have ended behind the last attempt to take the lock: attempts are up to 200 ms apart, and late on a busy machine.
    const hasHolder = alone.some((holder) => holder.fromMs < fromMs && holder.toMs > fromMs - 1000);
    assert.ok(hasHolder, `a scan at ${fromMs} had no lock, and nobody else had it`);
  }
  for (const each of upkeep) {
    assert.ok(
      each.scans.some((scan) => !scan.alone && scan.fromMs > killedMs && scan.toMs < backMs + reconnectMs),
    );
    assert.ok(each.scans.some((scan) => scan.fromMs > backMs + reconnectMs && scan.toMs < untilMs + 1));
  }
}

function pick<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new TypeError('There is none to pick.');
  return item;
}

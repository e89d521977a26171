import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createLogger, createMetrics, type Metrics, parseLogFilter, QueryError } from '@svc/base';
import { fakeClock } from '../../test-support/clock.js';
import { testSettings } from '../../test-support/fake-session.js';
import type { RenewTokens, SessionTokens } from '../identity-provider.js';
import { SessionStore } from '../session-store.js';
import { noScanLock, type ScanLock } from './scan-lock.js';
import { createTokenScan } from './token-scan.js';

const lifeMs = 300_000;
const never = new AbortController().signal;

/** Deadlines alone do not keep a process alive. */
const awake = setInterval(() => {}, 1000);
after(() => clearInterval(awake));

describe('a token scan (spec 3.1, 5.5, and 8: tokens that expire within 60 seconds)', () => {
  const modes = { 'password grant': 'refresh', 'client credentials': undefined };
  const windows = { 59900: true, 60000: true, 60100: false, 0: true, [-1]: true };
  for (const [mode, refreshToken] of Object.entries(modes)) {
    for (const [leftMs, isRenewed] of Object.entries(windows)) {
      it(`${isRenewed ? 'renews' : 'leaves'} tokens of the ${mode} with ${leftMs} ms left`, async () => {
        const { signIn, scan, clock } = newScan();
        const { session, renewals } = signIn(Number(leftMs), refreshToken);
        await scan(never);
        assert.equal(renewals.length, isRenewed ? 1 : 0);
        assert.equal(session.isExpired, false);
        if (isRenewed) assert.equal(session.tokens?.expiresAtMs, clock.now() + lifeMs);
      });
    }
  }

  it('replaces the tokens in one piece, and renews from the newest ones', async () => {
    const { signIn, scan, clock } = newScan();
    const { session, renewals } = signIn(50_000, 'refresh 0');
    const before = session.tokens;
    await scan(never);
    clock.advance(lifeMs - 60_000);
    await scan(never);
    assert.deepEqual(
      renewals.map(({ refreshToken }) => refreshToken),
      ['refresh 0', 'refresh 1'],
    );
    assert.equal(before?.accessToken, 'access 0');
    assert.deepEqual([session.tokens?.accessToken, session.tokens?.refreshToken], ['access 2', 'refresh 2']);
  });

  it('gives the session the roles that the new tokens have, and keeps them where those say nothing', async () => {
    const { signIn, scan } = newScan();
    const answers = [{ roles: ['analyst', 'admin'] }, {}, { roles: [] }];
    const { session } = signIn(50_000, 'refresh', async (tokens) => ({ ...tokens, ...answers.shift() }));
    const seen: (readonly string[])[] = [];
    for (let scans = 0; scans < 3; scans += 1) {
      await scan(never);
      seen.push(session.identity.roles);
    }
    assert.deepEqual(seen, [['analyst', 'admin'], ['analyst', 'admin'], []]);
    assert.equal(session.identity.username, 'ada');
    assert.deepEqual(Object.keys(session.tokens ?? {}), ['accessToken', 'refreshToken', 'expiresAtMs']);
  });

  it('renews in time when the clock was set back, and once only', async () => {
    const { signIn, scan, clock, elapsed } = newScan();
    const { renewals } = signIn(lifeMs, 'refresh');
    await scan(never);
    clock.advance(-3_600_000);
    elapsed.advance(lifeMs - 60_001);
    await scan(never);
    assert.equal(renewals.length, 0);
    elapsed.advance(1);
    await scan(never);
    await scan(never);
    assert.equal(renewals.length, 1);
  });

  it('leaves sessions without tokens, and tokens that nothing renews', async () => {
    const { store, scan, clock } = newScan();
    const identity = { username: 'ada', roles: [] };
    const tokens = { accessToken: 'a', refreshToken: undefined, expiresAtMs: clock.now() + 1000 };
    store.create({ identity, tokens: undefined, renew: undefined }, '');
    store.create({ identity, tokens, renew: undefined }, '');
    await scan(never);
    assert.equal(store.openCount(), 2);
  });

  const failures = {
    refused: () => Promise.reject(new QueryError('UNAUTHENTICATED', 'The provider refused.')),
    unavailable: () =>
      Promise.reject(new QueryError('IDENTITY_PROVIDER_UNAVAILABLE', 'The breaker is open.')),
    'a defect': () => {
      throw new TypeError('not a function');
    },
    'deaf and late': () => new Promise<never>(() => {}),
  } satisfies Readonly<Record<string, RenewTokens>>;
  for (const [title, renew] of Object.entries(failures)) {
    it(`marks a session expired whose renewal is ${title}, once, and nobody else's (spec 7)`, async () => {
      const { store, signIn, scan, records, outcomes } = newScan({ deadlineMs: 20 });
      const [failing, other] = [signIn(50_000, 'refresh', renew), signIn(50_000, 'refresh')];
      await scan(never);
      await scan(never);
      assert.throws(() => store.find(failing.bearer), { code: 'SESSION_EXPIRED' });
      assert.equal(store.find(other.bearer), other.session);
      assert.equal(failing.session.closed.aborted, false);
      assert.deepEqual(await outcomes(), { renewed: 1, failed: 1, abandoned: 0 });
      const warnings = records().filter(({ level }) => level === 'warn');
      assert.deepEqual(
        warnings.map(({ session_id, user }) => [session_id, user]),
        [[failing.session.label, 'ada']],
      );
    });
  }

  it('never writes a token', async () => {
    const { signIn, scan, records } = newScan();
    signIn(50_000, 'refresh', failures.refused);
    signIn(50_000, 'refresh');
    await scan(never);
    assert.ok(records().length > 1);
    assert.doesNotMatch(JSON.stringify(records()), /access \d|refresh/);
  });

  it('does not bring back a session that was closed during its renewal', async () => {
    const { store, signIn, scan, outcomes } = newScan();
    const { session } = signIn(50_000, 'refresh', async (tokens) => {
      store.close(session);
      return { ...tokens, accessToken: 'late' };
    });
    await scan(never);
    assert.equal(session.tokens?.accessToken, 'access 0');
    assert.deepEqual([store.size, session.isExpired], [0, false]);
    assert.deepEqual(await outcomes(), { renewed: 0, failed: 0, abandoned: 1 });
  });

  it('asks the provider for a bounded number at once', async () => {
    let [running, most] = [0, 0];
    const { signIn, scan } = newScan();
    const renew: RenewTokens = async (tokens) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return tokens;
    };
    for (let count = 0; count < 100; count += 1) signIn(50_000, 'refresh', renew);
    await scan(never);
    assert.equal(most, 8);
  });

  it('renews 10,000 sessions, each once, the soonest to expire first', async () => {
    const order: number[] = [];
    const { signIn, scan, outcomes } = newScan();
    for (let count = 0; count < 10_000; count += 1)
      signIn((count * 7919) % 60_000, 'refresh', async (tokens) => {
        order.push(tokens.expiresAtMs);
        return { ...tokens, expiresAtMs: tokens.expiresAtMs + lifeMs };
      });
    await scan(never);
    await scan(never);
    assert.deepEqual(await outcomes(), { renewed: 10_000, failed: 0, abandoned: 0 });
    assert.deepEqual(
      order,
      [...order].sort((left, right) => left - right),
    );
  });

  it('does not begin all renewals at the same moment', async () => {
    const stop = new AbortController();
    const { signIn, scan } = newScan({ spreadEachMs: 100_000 });
    let begun = 0;
    for (let count = 0; count < 8; count += 1)
      signIn(50_000, 'refresh', async (tokens) => {
        begun += 1;
        stop.abort(new QueryError('SHUTTING_DOWN', 'The first one has begun.'));
        return tokens;
      });
    await assert.rejects(scan(stop.signal), { code: 'SHUTTING_DOWN' });
    assert.equal(begun, 1);
  });

  it('ends with its signal and expires nobody by that', async () => {
    const stop = new AbortController();
    const { signIn, scan, outcomes } = newScan();
    const waiting = Array.from({ length: 20 }, () =>
      signIn(50_000, 'refresh', () => {
        stop.abort(new QueryError('SHUTTING_DOWN', 'The service stops.'));
        return new Promise<never>(() => {});
      }),
    );
    await assert.rejects(scan(stop.signal), { code: 'SHUTTING_DOWN' });
    assert.ok(waiting.every(({ session }) => !session.isExpired));
    assert.match(JSON.stringify(await outcomes()), /"failed":0/);
  });

  it('asks for the lock only when there is something to renew, and looks again when it has it', async () => {
    let locks = 0;
    const lock: ScanLock = {
      async run(work) {
        locks += 1;
        clock.advance(5000);
        await work(false);
      },
      close() {},
    };
    const { signIn, scan, clock } = newScan({}, lock);
    await scan(never);
    assert.equal(locks, 0);
    const [due, dueSoon] = [signIn(60_000, 'refresh'), signIn(65_000, 'refresh')];
    await scan(never);
    assert.deepEqual([locks, due.renewals.length, dueSoon.renewals.length], [1, 1, 1]);
  });
});

/** A scan over a store whose sessions are renewed by the test, or by counting up. */
function newScan(timings: { spreadEachMs?: number; deadlineMs?: number } = {}, lock: ScanLock = noScanLock) {
  const clock = fakeClock();
  const elapsed = fakeClock();
  const metrics = createMetrics();
  const lines: string[] = [];
  const store = new SessionStore({
    idleTimeoutMs: 86_400_000,
    maxAgeMs: 86_400_000,
    maxPerUser: 20_000,
    maxTotal: 20_000,
    defaults: testSettings,
    now: clock.now,
  });
  const scan = createTokenScan({
    sessions: () => store.sessions(),
    lock,
    metrics,
    logger: createLogger('test', { write: (line) => lines.push(line), filter: parseLogFilter('trace') }),
    now: clock.now,
    elapsed: elapsed.now,
    random: () => 0,
    timings: { spreadEachMs: 0, spreadMs: 1_000_000, deadlineMs: 10_000, ...timings },
  });
  const signIn = (leftMs: number, refreshToken: string | undefined, renewAs?: RenewTokens) => {
    const renewals: SessionTokens[] = [];
    const renew: RenewTokens = async (tokens, signal) => {
      renewals.push(tokens);
      if (renewAs !== undefined) return renewAs(tokens, signal);
      return {
        accessToken: `access ${renewals.length}`,
        refreshToken: refreshToken && `refresh ${renewals.length}`,
        expiresAtMs: clock.now() + lifeMs,
      };
    };
    const tokens = { accessToken: 'access 0', refreshToken, expiresAtMs: clock.now() + leftMs };
    const bearer = store.create({ identity: { username: 'ada', roles: [] }, tokens, renew }, '');
    const session = store.find(bearer);
    if (session === undefined) throw new TypeError('The new session is not found.');
    return { bearer, session, renewals };
  };
  return {
    store,
    clock,
    elapsed,
    scan,
    signIn,
    outcomes: () => outcomesOf(metrics),
    records() {
      return lines.map((line): { level: string; session_id?: string; user?: string } => JSON.parse(line));
    },
  };
}

async function outcomesOf(metrics: Metrics): Promise<Readonly<Record<string, number>>> {
  const text = await metrics.text();
  const samples = text.matchAll(/^svc_token_renewals_total\{outcome="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, outcome, count]) => [outcome, Number(count)]));
}

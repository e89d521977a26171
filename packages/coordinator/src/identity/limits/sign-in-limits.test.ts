import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type ErrorCode, QueryError } from '@svc/base';
import { type FaultProvider, startFaultProvider } from '../../test-support/fault-provider.js';
import { openTestIdentity, originOf, type TestIdentity } from '../../test-support/test-identity.js';

const windowMs = 60_000;
const perUser = 10;
const perAddress = 30;

let provider: FaultProvider;
let test: TestIdentity;
let askedBefore = 0;
before(async () => {
  provider = await startFaultProvider();
});
after(async () => await provider[Symbol.asyncDispose]());
beforeEach(async () => {
  askedBefore = provider.grants.length;
  test = await openTestIdentity({
    'auth.idp_url': provider.url,
    'auth.client_id': 'svc',
    'auth.max_failures_per_user': perUser,
    'auth.max_failures_per_address': perAddress,
    'auth.failure_window_secs': windowMs / 1000,
  });
});
afterEach(() => test[Symbol.dispose]());

const asked = () => provider.grants.length - askedBefore;
const signIn = (username: string, password: string, address?: string) =>
  test.identity.signIn(username, password, originOf(address));

type Outcomes = Partial<Record<ErrorCode | 'ok', number>>;

/** How many attempts had each outcome. */
async function outcomes(attempts: readonly Promise<unknown>[]): Promise<Outcomes> {
  const counts: Outcomes = {};
  for (const result of await Promise.allSettled(attempts)) {
    const outcome = result.status === 'fulfilled' ? 'ok' : QueryError.from(result.reason).code;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe('wrong passwords', () => {
  it('for one user, 1,000 at once, reach the provider as often as configured', async () => {
    const attempts = Array.from({ length: 1000 }, (_none, index) => signIn('ada', `guess ${index}`));
    assert.deepEqual(await outcomes(attempts), {
      UNAUTHENTICATED: perUser,
      SIGN_IN_LIMITED: 1000 - perUser,
    });
    assert.equal(asked(), perUser);
  });

  it('for many users from one address, too', async () => {
    const attempts = Array.from({ length: 200 }, (_none, index) => signIn(`user ${index}`, 'guess'));
    await outcomes(attempts);
    assert.equal(asked(), perAddress);
  });

  it('are forgotten one by one when the window has passed, and the message says when', async () => {
    await outcomes(Array.from({ length: perUser - 1 }, () => signIn('ada', 'wrong')));
    test.steady.advance(10_000);
    await assert.rejects(signIn('ada', 'wrong'), { code: 'UNAUTHENTICATED' });
    await assert.rejects(signIn('ada', 'right'), {
      code: 'SIGN_IN_LIMITED',
      message: 'Too many wrong passwords: try again in 50 seconds.',
    });
    test.steady.advance(50_000);
    await signIn('ada', 'right');
    await outcomes(Array.from({ length: perUser + 5 }, () => signIn('ada', 'wrong')));
    assert.equal(asked(), perUser + 1 + perUser - 1);
  });

  it('cannot be had beyond the limit by spelling the user in other ways', async () => {
    const spellings = ['ada', 'ADA', ' Ada ', 'ａｄａ', 'a\u00adda', 'ad\u200da', 'Ada', 'aDa'];
    const attempts = Array.from({ length: 40 }, (_none, index) =>
      signIn(spellings[index % spellings.length] ?? '', 'wrong'),
    );
    await outcomes(attempts);
    assert.equal(asked(), perUser);
  });

  it('cannot be had beyond the limit from other addresses of the same IPv6 network, or the same IPv4 one in IPv6', async () => {
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::', '2001:0DB8::3'];
    await outcomes(
      addresses.flatMap((address) => Array.from({ length: 5 }, () => signIn('ada', 'wrong', address))),
    );
    assert.equal(asked(), perUser);
    await outcomes(
      Array.from({ length: 20 }, (_none, index) =>
        signIn('ada', 'wrong', index % 2 ? '192.0.2.7' : '::ffff:192.0.2.7'),
      ),
    );
    assert.equal(asked(), 2 * perUser);
  });

  it('from elsewhere do not lock a user out', async () => {
    await outcomes(Array.from({ length: 50 }, () => signIn('ada', 'wrong', '203.0.113.9')));
    await signIn('ada', 'right', '192.0.2.1');
  });

  it('count although their clients go away before the answer', async () => {
    const impatient = () => {
      const controller = new AbortController();
      const attempt = test.identity.signIn('ada', 'wrong', originOf('192.0.2.1', controller.signal));
      setImmediate(() => controller.abort());
      return attempt;
    };
    for (let round = 0; round < perUser; round += 1) {
      await outcomes(Array.from({ length: 20 }, impatient));
      // Its answer comes after theirs, who are not there to get them.
      await signIn('bob', 'right');
    }
    await assert.rejects(signIn('ada', 'right'), { code: 'SIGN_IN_LIMITED' });
    assert.equal(asked(), perUser + perUser, 'as many wrong ones as right ones');
  });

  it('beside right ones leave these their places', async () => {
    const attempts = Array.from({ length: 300 }, (_none, index) =>
      signIn(index % 3 ? 'bob' : 'ada', index % 3 ? 'right' : 'wrong'),
    );
    const counts = await outcomes(attempts);
    assert.equal(counts.ok, 200);
    assert.equal(counts.UNAUTHENTICATED, perUser);
  });
});

describe('right passwords', () => {
  it('are never limited, however many come at once', async () => {
    const attempts = Array.from({ length: 300 }, () => signIn('ada', 'right'));
    assert.deepEqual(await outcomes(attempts), { ok: 300 });
  });
});

describe('a provider that is down', () => {
  it('makes no password wrong', async () => {
    provider.answers.token = (response) => response.writeHead(503).end();
    await outcomes(Array.from({ length: 50 }, () => signIn('ada', 'right')));
    delete provider.answers.token;
    test.steady.advance(5000);
    await signIn('ada', 'right');
  });
});

describe('the log of refusals', () => {
  it('is not filled by a flood, and has no name that was tried', async () => {
    const attempts = Array.from({ length: 1000 }, (_none, index) =>
      signIn('my secret word', `guess ${index}`),
    );
    await outcomes(attempts);
    assert.equal(test.logLines.length, 20);
    test.steady.advance(10_000);
    await outcomes([signIn('my secret word', 'x')]);
    assert.match(test.logLines[20] ?? '', /980 more sign-ins and bearers were refused/);
    assert.equal(/secret word|guess/.test(test.logLines.join('')), false);
  });
});

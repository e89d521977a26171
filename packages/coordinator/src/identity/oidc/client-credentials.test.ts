import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type FaultProvider, json, startFaultProvider, text } from '../../test-support/fault-provider.js';
import { openTestIdentity, originOf, type TestIdentity } from '../../test-support/test-identity.js';

let provider: FaultProvider;
let test: TestIdentity;
before(async () => {
  provider = await startFaultProvider();
});
after(async () => await provider[Symbol.asyncDispose]());
beforeEach(async () => {
  test = await openTestIdentity(settings());
});
afterEach(() => {
  test[Symbol.dispose]();
  delete provider.answers.token;
});

const settings = () => ({
  'auth.token_endpoint': `${provider.url}/token`,
  'auth.client_id': 'svc',
  'auth.client_secret': 'the secret of svc',
});
const signIn = (username: string, password = '') => test.identity.signIn(username, password, originOf());
const grantCount = () => provider.grants.length;

describe('the client-credentials mode (spec 5.1, 5.4)', () => {
  it('posts what the specification says, and not the name of the user', async () => {
    await signIn('ada', 'anything');
    assert.deepEqual(provider.grants.at(-1), {
      grant_type: 'client_credentials',
      client_id: 'svc',
      client_secret: 'the secret of svc',
    });
  });

  it('takes the name as a label, and gives no roles and no refresh token', async () => {
    provider.answers.token = json({
      access_token: 'a',
      token_type: 'bearer',
      expires_in: 90,
      refresh_token: 'r',
    });
    const { identity, tokens, renew } = await signIn('Ada Lovelace');
    assert.deepEqual(identity, { username: 'Ada Lovelace', roles: [] });
    assert.deepEqual(tokens, {
      accessToken: 'a',
      refreshToken: undefined,
      expiresAtMs: test.wall.now() + 90_000,
    });
    assert.notEqual(renew, undefined);
  });

  it('serves many sessions with one token, until a minute before its expiry (spec 5.4, 8)', async () => {
    const before = grantCount();
    const first = await Promise.all(['a', 'b', 'c'].map((name) => signIn(name)));
    test.steady.advance(239_000);
    await signIn('d');
    assert.equal(grantCount(), before + 1);
    test.steady.advance(1000);
    const late = await signIn('e');
    assert.equal(grantCount(), before + 2);
    assert.notEqual(late.tokens?.accessToken, first[0]?.tokens?.accessToken);
  });

  it('asks each time where tokens live no longer than a minute', async () => {
    provider.answers.token = json({ access_token: 'a', token_type: 'bearer', expires_in: 60 });
    const before = grantCount();
    await signIn('a');
    await signIn('b');
    assert.equal(grantCount(), before + 2);
  });

  it('renews with another token, one for all sessions that had the old one, wherever the clock is set', async () => {
    const { tokens, renew } = await signIn('a');
    assert.ok(tokens && renew);
    const before = grantCount();
    test.wall.advance(250_000);
    const renewed = await Promise.all([1, 2, 3].map(() => renew(tokens, originOf().signal)));
    const again = await renew(tokens, originOf().signal);
    assert.equal(grantCount(), before + 1);
    for (const each of [...renewed, again]) assert.notEqual(each.accessToken, tokens.accessToken);
  });

  it('takes no refusal of the provider for a wrong password', async () => {
    for (const answer of [
      json({ error: 'invalid_grant' }, 400),
      json({ error: 'invalid_client' }, 401),
      text('', 503),
    ]) {
      provider.answers.token = answer;
      await assert.rejects(signIn('a'), { code: 'IDENTITY_PROVIDER_UNAVAILABLE' });
    }
  });

  it('takes access tokens as bearers of a configured issuer only', async () => {
    const token = await provider.sign();
    await assert.rejects(test.identity.ownerOf(token, originOf()), { code: 'UNAUTHENTICATED' });
    using open = await openTestIdentity({ ...settings(), 'auth.issuer': provider.url });
    assert.equal((await open.identity.ownerOf(token, originOf())).identity.username, 'ada');
  });

  it('warns at the start that the port is open to whoever reaches it', async () => {
    using locked = await openTestIdentity({ ...settings(), 'auth.handshake_password': 'open sesame' });
    assert.match(test.logLines.join(''), /WHOEVER REACHES THE PORT/);
    assert.match(locked.logLines.join(''), /whoever knows auth.handshake_password/);
  });

  it('with a handshake password asks for that one, and limits wrong ones', async () => {
    const config = {
      ...settings(),
      'auth.handshake_password': 'open sesame',
      'auth.max_failures_per_user': 2,
    };
    using locked = await openTestIdentity(config);
    const knock = (password: string) => locked.identity.signIn('ada', password, originOf());
    await knock('open sesame');
    await assert.rejects(knock(''), { code: 'UNAUTHENTICATED' });
    await assert.rejects(knock('open sesam'), { code: 'UNAUTHENTICATED' });
    await assert.rejects(knock('open sesame'), { code: 'SIGN_IN_LIMITED' });
  });
});

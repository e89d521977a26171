/** Signing in with an identity provider: a real one, a whole service, clients over the wire. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.js';
import { value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/until.js';

const users = {
  ada: { password: "Ada's own word: ünïcode & signs=+", roles: ['analyst', 'admin'] },
  bob: { password: 'word of bob', roles: [] },
  eve: { password: 'word of eve', roles: [] },
};

const staticToken = 'static-token-of-the-importer';

let provider: OidcProvider;
let folder = '';
before(async () => {
  provider = await startOidcProvider({ users });
  folder = await mkdtemp(join(tmpdir(), 'svc-sign-in-'));
});
after(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The user that the service has a client for: that of its query in the log. */
async function userOf(service: TestService, client: FlightClient): Promise<string | undefined> {
  const finished = () => service.logRecords().filter(({ message }) => message === 'query finished');
  const before = finished().length;
  await value(client, 'SELECT 1');
  await until('the query in the log', () => finished().length > before);
  return finished()[before]?.user;
}

describe('with the password grant', () => {
  let service: TestService;
  before(async () => {
    const tokensPath = join(folder, 'tokens.toml');
    const sha256 = createHash('sha256').update(staticToken).digest('hex');
    await writeFile(tokensPath, `[[token]]\nusername = "importer"\nroles = []\nsha256 = "${sha256}"\n`);
    service = await startService({
      config: {
        'auth.idp_url': provider.url,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
        'auth.static_tokens_path': tokensPath,
      },
    });
  });
  after(async () => await service[Symbol.asyncDispose]());

  it('a user signs in by name and password, and gets a session id as bearer (spec 5.1, 5.2, 5.3)', async () => {
    const client = service.stranger();
    const bearer = await client.signIn('ada', users.ada.password);
    assert.match(bearer, /^[\w-]{43}$/);
    assert.equal(await userOf(service, client), 'ada');
  });

  it('the user is the one that the provider names, however the name was typed', async () => {
    const client = service.stranger();
    await client.signIn('ADA', users.ada.password);
    assert.equal(await userOf(service, client), 'ada');
  });

  it('there is no local user, and no password file', async () => {
    assert.equal(service.coordinator.signIn.kind, 'password');
    await assert.rejects(service.stranger().signIn('local', ''), { code: 'UNAUTHENTICATED' });
  });

  it('an unknown user and a wrong password have the same answer', async () => {
    for (const [username, password] of [
      ['ada', 'wrong'],
      ['nobody', 'wrong'],
      ['ada', ''],
    ] as const)
      await assert.rejects(service.stranger().signIn(username, password), {
        code: 'UNAUTHENTICATED',
        message: 'The user name or the password is not right.',
      });
  });

  it('an access token is a bearer of its own, by header and by handshake (spec 5.8, 5.9)', async () => {
    const { access_token: token } = await provider.tokensOf('bob');
    const byHeader = service.stranger();
    byHeader.useBearer(token);
    assert.equal(await userOf(service, byHeader), 'bob');
    const byHandshake = service.stranger();
    const bearer = await byHandshake.signIn('', '', { headers: { authorization: `Bearer ${token}` } });
    assert.equal(bearer, token);
    assert.equal(await userOf(service, byHandshake), 'bob');
  });

  it('a refresh token, a damaged access token and a huge one are none', async () => {
    const { access_token: token, refresh_token: refresh } = await provider.tokensOf('bob');
    const sessions = await service.metric('svc_active_sessions');
    for (const bearer of [refresh, `${token.slice(0, -6)}AAAAAA`, `${token}${'x'.repeat(20_000)}`]) {
      const client = service.stranger();
      client.useBearer(bearer);
      await assert.rejects(client.planStatement('SELECT 1'), { category: 'user' });
    }
    assert.equal(await service.metric('svc_active_sessions'), sessions);
  });

  it('a header beyond all bounds ends its own connection only', async () => {
    const client = service.stranger();
    await client.signIn('ada', users.ada.password);
    const huge = service.stranger();
    huge.useBearer('x'.repeat(100_000));
    await assert.rejects(huge.planStatement('SELECT 1'));
    assert.equal(await userOf(service, client), 'ada');
  });

  it('a static token is a bearer (spec 5.8)', async () => {
    const client = service.stranger();
    client.useBearer(staticToken);
    assert.equal(await userOf(service, client), 'importer');
    client.useBearer(`${staticToken}2`);
    await assert.rejects(client.planStatement('SELECT 1'), { code: 'UNAUTHENTICATED' });
  });

  it('keys that rotate disturb neither sessions nor sign-ins', async () => {
    const client = service.stranger();
    await client.signIn('ada', users.ada.password);
    await provider.rotateKeys();
    assert.equal(await userOf(service, client), 'ada');
    await service.stranger().signIn('bob', users.bob.password);
    const byToken = service.stranger();
    byToken.useBearer((await provider.tokensOf('bob')).access_token);
    assert.equal(await userOf(service, byToken), 'bob');
  });

  it('a provider that is down is told from a wrong password, and sessions live on', async () => {
    const client = service.stranger();
    await client.signIn('bob', users.bob.password);
    provider.setDown(true);
    try {
      await assert.rejects(service.stranger().signIn('bob', users.bob.password), {
        code: 'IDENTITY_PROVIDER_UNAVAILABLE',
        retryable: true,
      });
      assert.equal(await userOf(service, client), 'bob');
    } finally {
      provider.setDown(false);
    }
  });

  it('wrong passwords are limited per user, also as Basic with each call, and the provider does not see them', async () => {
    const before = provider.requests.get('/token') ?? 0;
    const authorization = `Basic ${Buffer.from('eve:wrong').toString('base64')}`;
    const attempts = Array.from({ length: 60 }, (_none, index) =>
      index % 2 === 0
        ? service.stranger().signIn('eve', `guess ${index}`)
        : service.stranger().planStatement('SELECT 1', { headers: { authorization } }),
    );
    await Promise.allSettled(attempts);
    await assert.rejects(service.stranger().signIn('Eve', users.eve.password), {
      code: 'SIGN_IN_LIMITED',
      message: /^Too many wrong passwords: try again in \d+ seconds\.$/,
    });
    assert.equal((provider.requests.get('/token') ?? 0) - before, 10);
    await service.stranger().signIn('bob', users.bob.password);
  });

  it('no secret is in the log', async () => {
    const { access_token: token, refresh_token: refresh } = await provider.tokensOf('bob');
    const log = service.logLines.join('');
    const secrets = [token.slice(0, 20), refresh, provider.clientSecret, 'guess ', "Ada's own", 'word of'];
    for (const secret of secrets) assert.equal(log.includes(secret), false, secret.slice(0, 5));
  });
});

describe('with client credentials', () => {
  let service: TestService;
  before(async () => {
    service = await startService({
      config: {
        'auth.token_endpoint': `${provider.url}/token`,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
        'auth.handshake_password': 'open sesame',
      },
    });
  });
  after(async () => await service[Symbol.asyncDispose]());

  it('whoever knows the handshake password signs in, under any name (spec 5.1, 5.4)', async () => {
    const client = service.stranger();
    await client.signIn('the nightly report', 'open sesame');
    assert.equal(await userOf(service, client), 'the nightly report');
    await assert.rejects(service.stranger().signIn('the nightly report', 'open'), {
      code: 'UNAUTHENTICATED',
    });
  });

  it('many sessions cost the provider one request', async () => {
    const before = provider.requests.get('/token') ?? 0;
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => service.stranger().signIn(name, 'open sesame')));
    assert.ok((provider.requests.get('/token') ?? 0) - before <= 1);
  });

  it('says at the start who may do what', () => {
    const warnings = service.logRecords().filter(({ level }) => level === 'warn');
    assert.match(warnings[0]?.message ?? '', /acts as the service principal/);
  });
});

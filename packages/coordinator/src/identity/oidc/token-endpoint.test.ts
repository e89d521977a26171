import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  type Answer,
  type FaultProvider,
  json,
  startFaultProvider,
  text,
} from '../../test-support/fault-provider.js';
import { openTestIdentity, originOf, type TestIdentity } from '../../test-support/test-identity.js';

let provider: FaultProvider;
let test: TestIdentity;
beforeEach(async () => {
  provider = await startFaultProvider();
  test = await openTestIdentity({ 'auth.idp_url': provider.url, 'auth.client_id': 'svc' });
});
afterEach(async () => {
  test[Symbol.dispose]();
  await provider[Symbol.asyncDispose]();
});

const secret = 'text-of-the-provider';
const signIn = (username = 'ada', password = 'right') => test.identity.signIn(username, password, originOf());
const right = { access_token: 'opaque', token_type: 'Bearer', expires_in: 60 };

const endless: Answer = (response) => {
  const more = () => {
    while (response.write(Buffer.alloc(65_536, 'x')));
  };
  response.on('drain', more).writeHead(200);
  more();
};

/** Issue 5, "Bad input". */
const hostile: readonly (readonly [string, Answer, RegExp])[] = [
  ['status 500', text(secret, 500), /status 500/],
  ['status 500 with JSON', json({ error: secret }, 500), /status 500/],
  ['a page with status 500', text(`<html>${secret}`, 502), /status 502/],
  ['a page with status 200', text(`<html>${secret}`), /not a JSON object/],
  ['a list', json([secret]), /not a JSON object/],
  ['null', json(null), /not a JSON object/],
  ['nothing', text(''), /not a JSON object/],
  ['a body without end', endless, /more than 1 MiB/],
  ['half an answer', (response) => response.write('{"acc', () => response.destroy()), /cannot be reached/],
  ['a closed connection', (response) => response.destroy(), /cannot be reached/],
  ['a redirect', (response) => response.writeHead(307, { location: `/${secret}` }).end(), /redirect/],
  ['no token', json({ ...right, access_token: undefined }), /no access token/],
  ['a token that is no text', json({ ...right, access_token: { secret } }), /no access token/],
  ['a token with a line feed', json({ ...right, access_token: 'a\nb' }), /no access token/],
  ['a token of 100 kB', json({ ...right, access_token: 'x'.repeat(100_000) }), /no access token/],
  ['a refresh token that is no text', json({ ...right, refresh_token: 7 }), /refresh token/],
  ['no expiry', json({ ...right, expires_in: undefined }), /without `expires_in`/],
  ['expiry 0', json({ ...right, expires_in: 0 }), /`expires_in` is not/],
  ['a negative expiry', json({ ...right, expires_in: -60 }), /`expires_in` is not/],
  ['an expiry that is a text', json({ ...right, expires_in: '300' }), /`expires_in` is not/],
  ['an expiry in milliseconds since 1970', json({ ...right, expires_in: 1_800_000_000_000 }), /`expires_in`/],
  [
    'an infinite expiry',
    text('{"access_token":"a","token_type":"bearer","expires_in":1e999}'),
    /`expires_in`/,
  ],
  ['no token type', json({ ...right, token_type: undefined }), /`token_type`/],
  ['another token type', json({ ...right, token_type: 'DPoP' }), /`token_type`/],
  [
    'a client that it does not know',
    json({ error: 'invalid_client', error_description: secret }, 401),
    /invalid_client/,
  ],
  ['a refusal of its own', json({ error: secret }, 400), /status 400 \(no reason\)/],
  ['a page with status 403', text(secret, 403), /status 403/],
  ['too many requests', text(secret, 429), /too many requests/],
];

describe('a token endpoint that answers', () => {
  for (const [name, answer, message] of hostile) {
    it(`${name} is not taken for a wrong password, and not quoted`, async () => {
      provider.answers.token = answer;
      await assert.rejects(signIn(), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'IDENTITY_PROVIDER_UNAVAILABLE');
        assert.match(error.message, message);
        assert.equal(error.message.includes(secret), false);
        return true;
      });
      assert.equal(
        test.logLines.some((line) => line.includes(secret)),
        false,
      );
      assert.equal(provider.grants.length, 1);
    });
  }
});

describe('signing in by password grant (spec 5.3, 2.2)', () => {
  it('posts what the specification says, and nothing more', async () => {
    await signIn('Ada', 'right');
    assert.deepEqual(provider.grants, [
      { grant_type: 'password', username: 'Ada', password: 'right', client_id: 'svc' },
    ]);
  });

  it('gives tokens, roles and expiry, and the name that the provider has for the user', async () => {
    const { identity, tokens, renew } = await signIn('ADA');
    assert.deepEqual(identity, { username: 'ada', roles: ['analyst'] });
    assert.equal(tokens?.refreshToken, 'refresh-1');
    assert.equal(tokens?.expiresAtMs, test.wall.now() + 300_000);
    assert.notEqual(renew, undefined);
  });

  it('renews with the roles that the user has then', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    const renewedAs = async (accessToken: string) => {
      provider.answers.token = json({ ...right, access_token: accessToken });
      return await renew(tokens, originOf().signal);
    };
    const demoted = await renewedAs(await provider.sign({ realm_access: { roles: [] } }));
    assert.deepEqual(demoted.roles, []);
    assert.equal(demoted.refreshToken, 'refresh-1');
    assert.equal((await renewedAs('opaque')).roles, undefined);
    await assert.rejects(renewedAs(await provider.sign({ iss: 'https://other' })), {
      code: 'UNAUTHENTICATED',
    });
  });

  it('renews without news of the roles when there are no keys to check them with', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    test.steady.advance(25 * 3_600_000);
    const token = await provider.sign();
    provider.answers.keys = text('', 503);
    provider.answers.token = json({ ...right, access_token: token });
    const renewed = await renew(tokens, originOf().signal);
    assert.deepEqual([renewed.accessToken, renewed.roles], [token, undefined]);
  });

  it('has one answer for an unknown user and a wrong password', async () => {
    for (const description of ['Invalid user credentials', 'Account disabled', 'No such user']) {
      provider.answers.token = json({ error: 'invalid_grant', error_description: description }, 400);
      await assert.rejects(signIn(), {
        code: 'UNAUTHENTICATED',
        message: 'The user name or the password is not right.',
      });
    }
  });

  it('does not ask about passwords and names that nobody has', async () => {
    for (const [username, password] of [
      ['ada', ''],
      ['', 'right'],
      ['a\u0085b', 'right'],
      ['a'.repeat(257), 'right'],
      ['ada', 'x'.repeat(4097)],
    ])
      await assert.rejects(signIn(username, password), { code: 'UNAUTHENTICATED' });
    assert.equal(provider.grants.length, 0);
  });

  it('gives an opaque token no roles, and the session the name as given', async () => {
    provider.answers.token = json(right);
    const { identity, renew } = await signIn('Ada');
    assert.deepEqual(identity, { username: 'Ada', roles: [] });
    assert.equal(renew, undefined);
  });

  it('checks a token that is a JWT like any bearer: roles are authorization', async () => {
    for (const claims of [
      { azp: 'other' },
      { iss: 'https://elsewhere.example' },
      { typ: 'ID' },
      { exp: 1 },
    ]) {
      provider.answers.token = json({ ...right, access_token: await provider.sign(claims) });
      await assert.rejects(signIn(), {
        code: 'IDENTITY_PROVIDER_UNAVAILABLE',
        message: /^The identity provider gave an access token that is not valid here: /,
      });
    }
  });

  it("asks in Keycloak's layout where there is a realm", async () => {
    const base = { 'auth.idp_url': `${provider.url}/`, 'auth.client_id': 'svc' };
    using keycloak = await openTestIdentity({ ...base, 'auth.realm': 'main' });
    let path: string | undefined;
    provider.answers.discovery = (response, request) => {
      path = request.url;
      const document = {
        issuer: `${provider.url}/realms/main`,
        token_endpoint: `${provider.url}/token`,
        jwks_uri: `${provider.url}/keys`,
      };
      json(document)(response, request);
    };
    provider.answers.token = json(right);
    await keycloak.identity.signIn('ada', 'right', originOf());
    assert.equal(path, '/realms/main/.well-known/openid-configuration');
  });
});

describe('renewing (spec 3.1, 5.5)', () => {
  it('exchanges the refresh token, and takes the new one in its place', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    const renewed = await renew(tokens, originOf().signal);
    assert.deepEqual(provider.grants.at(-1), {
      grant_type: 'refresh_token',
      refresh_token: 'refresh-1',
      client_id: 'svc',
    });
    assert.equal(renewed.refreshToken, 'refresh-2');
    assert.notEqual(renewed.accessToken, tokens.accessToken);
  });

  it('keeps the refresh token where the provider gives no new one', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    for (const none of [{}, { refresh_token: null }]) {
      provider.answers.token = json({ ...right, ...none });
      assert.equal((await renew(tokens, originOf().signal)).refreshToken, 'refresh-1');
    }
  });

  it('tries again what fails for the moment, and not what is refused', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    let failures = 1;
    provider.answers.token = (response, request) =>
      (failures-- > 0 ? text('', 429) : json(right))(response, request);
    await renew(tokens, originOf().signal);
    for (const [answer, code] of [
      [json({ error: 'invalid_grant' }, 400), 'UNAUTHENTICATED'],
      [json({ error: 'invalid_client' }, 401), 'IDENTITY_PROVIDER_UNAVAILABLE'],
    ] as const) {
      const before = provider.grants.length;
      provider.answers.token = answer;
      await assert.rejects(renew(tokens, originOf().signal), { code });
      assert.equal(provider.grants.length - before, 1);
    }
  });

  it('ends at once when it is no longer wanted', async () => {
    const { tokens, renew } = await signIn();
    assert.ok(tokens && renew);
    const controller = new AbortController();
    provider.answers.token = () => controller.abort();
    await assert.rejects(renew(tokens, controller.signal), { code: 'CANCELLED' });
  });
});

describe('a provider that fails again and again', () => {
  it('is left alone for some seconds; then one request tries, and all may when it was answered', async () => {
    await signIn();
    provider.answers.token = text('', 503);
    for (let failure = 0; failure < 5; failure += 1) await assert.rejects(signIn());
    provider.answers.token = undefined;
    await assert.rejects(signIn(), { code: 'IDENTITY_PROVIDER_UNAVAILABLE', message: /try again/ });
    assert.equal(provider.grants.length, 6);
    assert.match(await test.metricsText(), /svc_identity_breaker_state\{state="open"\} 1/);
    test.steady.advance(5000);
    test.wall.advance(-3_600_000);
    await signIn();
    assert.match(await test.metricsText(), /svc_identity_breaker_state\{state="closed"\} 1/);
  });

  it('is not one that refuses passwords', async () => {
    for (let attempt = 0; attempt < 9; attempt += 1) await assert.rejects(signIn('ada', 'wrong'));
    await signIn();
  });

  it('is counted, by operation and outcome', async () => {
    await signIn();
    await assert.rejects(signIn('ada', 'wrong'));
    const metrics = await test.metricsText();
    for (const sample of [
      'svc_identity_requests_total{operation="password",outcome="ok"} 1',
      'svc_identity_requests_total{operation="password",outcome="refused"} 1',
      'svc_identity_requests_total{operation="keys",outcome="ok"} 1',
      'svc_identity_request_duration_seconds_count{operation="password"} 2',
      'svc_sign_ins_total{outcome="ok"} 1',
      'svc_sign_ins_total{outcome="wrong"} 1',
    ])
      assert.ok(metrics.includes(`${sample}\n`), sample);
  });
});

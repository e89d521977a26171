import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  type FaultProvider,
  json,
  newSigningKey,
  startFaultProvider,
  text,
} from '../../test-support/fault-provider.js';
import { openTestIdentity, originOf, type TestIdentity } from '../../test-support/test-identity.js';

let provider: FaultProvider;
let test: TestIdentity;
beforeEach(async () => {
  provider = await startFaultProvider();
  test = await openTestIdentity(configOf(provider));
});
afterEach(async () => {
  test[Symbol.dispose]();
  await provider[Symbol.asyncDispose]();
});

const configOf = ({ url }: FaultProvider) => ({ 'auth.idp_url': url, 'auth.client_id': 'svc' });
const ownerOf = (token: string) => test.identity.ownerOf(token, originOf());
const minute = 60_000;

describe('keys of the provider', () => {
  it('that rotate are found, once a cooldown has passed', async () => {
    await ownerOf(await provider.sign());
    const next = await newSigningKey('key-2', 'ES256');
    provider.publicKeys = [next.jwk, provider.key.jwk];
    const token = await provider.sign({}, { key: next });
    await assert.rejects(ownerOf(token), { code: 'UNAUTHENTICATED' });
    test.steady.advance(30_000);
    await ownerOf(token);
    assert.equal(provider.documents.keys, 2);
  });

  it('that rotate are found at once by a sign-in, whose token comes from the provider itself', async () => {
    await ownerOf(await provider.sign());
    const next = await newSigningKey('key-2', 'ES256');
    provider.publicKeys = [next.jwk];
    const access_token = await provider.sign({}, { key: next });
    provider.answers.token = json({ access_token, token_type: 'bearer', expires_in: 60 });
    const { identity } = await test.identity.signIn('ada', 'right', originOf());
    assert.equal(identity.username, 'ada');
  });

  it('are not asked for again by a flood of unknown ones', async () => {
    await ownerOf(await provider.sign());
    test.steady.advance(minute);
    for (let index = 0; index < 50; index += 1) {
      const token = await provider.sign({}, { key: provider.key, header: { kid: `unknown-${index}` } });
      await assert.rejects(ownerOf(token), { code: 'UNAUTHENTICATED' });
    }
    assert.equal(provider.documents.keys, 2);
  });

  it('serve on for a day while the provider is down, and no longer', async () => {
    await ownerOf(await provider.sign({ jti: '0' }));
    provider.answers.keys = provider.answers.discovery = text('down', 503);
    test.steady.advance(11 * minute);
    await ownerOf(await provider.sign({ jti: '1' }));
    test.steady.advance(23 * 60 * minute);
    await ownerOf(await provider.sign({ jti: '2' }));
    test.steady.advance(60 * minute);
    await assert.rejects(ownerOf(await provider.sign({ jti: '3' })), {
      code: 'IDENTITY_PROVIDER_UNAVAILABLE',
    });
  });

  it('that were withdrawn are forgotten after ten minutes', async () => {
    await ownerOf(await provider.sign({ jti: '0' }));
    provider.publicKeys = [(await newSigningKey('key-2', 'ES256')).jwk];
    test.steady.advance(10 * minute);
    await assert.rejects(ownerOf(await provider.sign({ jti: '1' })), { code: 'UNAUTHENTICATED' });
  });
});

/** None of these is a token's fault, so that the client may try again. */
const hostileKeys = [
  ['a status 500', text('oops', 500)],
  ['a page', text('<html>')],
  ['a list', json([])],
  ['no keys', json({})],
  ['keys that are none', json({ keys: ['x'] })],
  ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['more than a MiB', text(`{"keys":[],"x":"${'x'.repeat(2 ** 20)}"}`)],
] as const satisfies readonly (readonly [string, FaultProvider['answers']['keys']])[];

describe('a document of keys that is', () => {
  for (const [name, answer] of hostileKeys) {
    it(`${name} makes tokens unverifiable, not wrong, and is asked for again later`, async () => {
      provider.answers.keys = answer;
      const token = await provider.sign();
      for (let call = 0; call < 20; call += 1)
        await assert.rejects(ownerOf(token), { code: 'IDENTITY_PROVIDER_UNAVAILABLE' });
      assert.equal(provider.documents.keys, 1);
      provider.answers.keys = undefined;
      test.steady.advance(1000);
      await ownerOf(token);
    });
  }
});

describe('a provider that never answers', () => {
  it('is waited for as long as configured', async () => {
    using hasty = await openTestIdentity({ ...configOf(provider), 'auth.idp_timeout_secs': 0.1 });
    provider.answers.discovery = () => undefined;
    await assert.rejects(hasty.identity.ownerOf(await provider.sign(), originOf()), {
      code: 'IDENTITY_PROVIDER_UNAVAILABLE',
      message: 'The identity provider did not answer within 0.1 s.',
    });
  });
});

describe('a discovery document', () => {
  it('must name the issuer that is configured, and addresses that nobody reads on the way', async () => {
    const right = {
      issuer: provider.url,
      token_endpoint: `${provider.url}/token`,
      jwks_uri: `${provider.url}/keys`,
    };
    for (const [changes, message] of [
      [{ issuer: 'https://elsewhere.example' }, /another issuer/],
      [{ issuer: undefined }, /another issuer/],
      [{ jwks_uri: undefined }, /no `jwks_uri`/],
      [{ jwks_uri: 'http://keys.example/' }, /`jwks_uri`.* not https/],
      [{ token_endpoint: 'http://token.example/' }, /`token_endpoint`.* not https/],
      [{ token_endpoint: 'file:///etc/passwd' }, /`token_endpoint`.* no URL/],
      [{ token_endpoint: undefined }, /no `token_endpoint`/],
    ] as const) {
      test.steady.advance(minute);
      provider.answers.discovery = json({ ...right, ...changes });
      await assert.rejects(test.identity.signIn('ada', 'right', originOf()), {
        code: 'IDENTITY_PROVIDER_UNAVAILABLE',
        message,
      });
    }
    assert.equal(provider.grants.length, 0);
  });

  it('is not needed at the start: a provider that comes later serves then', async () => {
    provider.answers.discovery = text('starting', 503);
    await assert.rejects(test.identity.signIn('ada', 'right', originOf()), {
      code: 'IDENTITY_PROVIDER_UNAVAILABLE',
    });
    provider.answers.discovery = undefined;
    test.steady.advance(1000);
    await test.identity.signIn('ada', 'right', originOf());
  });
});

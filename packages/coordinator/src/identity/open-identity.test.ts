import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type FaultProvider, startFaultProvider } from '../test-support/fault-provider.js';
import { openTestIdentity, originOf } from '../test-support/test-identity.js';

let provider: FaultProvider;
let folder = '';
before(async () => {
  provider = await startFaultProvider();
  folder = await mkdtemp(join(tmpdir(), 'svc-identity-'));
});
after(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const client = { 'auth.client_id': 'svc', 'auth.client_secret': 'secret' };

describe('the mode of signing in (spec 5.1)', () => {
  it('is the password grant where there is a provider, also beside a token endpoint', async () => {
    const endpoints = { 'auth.idp_url': provider.url, 'auth.token_endpoint': `${provider.url}/token` };
    using test = await openTestIdentity({ ...client, ...endpoints });
    assert.deepEqual(test.identity.facts, { kind: 'password', providerUrl: provider.url });
  });

  it('is client credentials where there is only a token endpoint', async () => {
    using test = await openTestIdentity({ ...client, 'auth.token_endpoint': `${provider.url}/token` });
    assert.deepEqual(test.identity.facts, { kind: 'client_credentials', needsPassword: false });
  });

  it('is the local user without either; only then is there a password file', async () => {
    using test = await openTestIdentity({ 'server.data_dir': folder });
    const passwordPath = join(folder, 'local-password');
    assert.deepEqual(test.identity.facts, { kind: 'local', username: 'local', passwordPath });
    const empty = await mkdtemp(join(folder, 'empty-'));
    using other = await openTestIdentity({
      ...client,
      'auth.idp_url': provider.url,
      'server.data_dir': empty,
    });
    assert.equal(other.identity.kind, 'password');
    assert.deepEqual(await readdir(empty), []);
  });
});

describe('the local user', () => {
  it('has wrong passwords limited like all others', async () => {
    using test = await openTestIdentity({ 'server.data_dir': folder, 'auth.max_failures_per_user': 3 });
    const signIn = () => test.identity.signIn('local', 'guess', originOf('127.0.0.1'));
    for (let guess = 0; guess < 3; guess += 1) await assert.rejects(signIn(), { code: 'UNAUTHENTICATED' });
    await assert.rejects(signIn(), { code: 'SIGN_IN_LIMITED' });
  });

  it('may have users with access tokens of a configured issuer beside it', async () => {
    const config = { 'server.data_dir': folder, 'auth.issuer': provider.url, 'auth.audience': 'svc' };
    using test = await openTestIdentity(config);
    const owner = await test.identity.ownerOf(await provider.sign(), originOf());
    assert.equal(owner.identity.username, 'ada');
  });

  it('asks no provider for anything', async () => {
    using test = await openTestIdentity({ 'server.data_dir': folder });
    await assert.rejects(test.identity.ownerOf(await provider.sign(), originOf()), {
      code: 'UNAUTHENTICATED',
    });
  });
});

describe('a service that stops', () => {
  it('does not wait for the provider', async () => {
    const test = await openTestIdentity({ ...client, 'auth.idp_url': provider.url });
    provider.answers.discovery = () => test[Symbol.dispose]();
    await assert.rejects(test.identity.signIn('ada', 'right', originOf()), {
      code: 'IDENTITY_PROVIDER_UNAVAILABLE',
      message: /the service is stopping/,
    });
    delete provider.answers.discovery;
  });
});

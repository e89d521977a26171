/** The admin gate of a whole service with a real identity provider (specification sections 4.4, 5.6 and 7). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.js';
import { startService, type TestService } from './support/service.js';

const users = {
  ada: { password: 'word of ada', roles: ['operator'] },
  bob: { password: 'word of bob', roles: ['admin', 'Operator'] },
};

describe('the admin gate', () => {
  let provider: OidcProvider;
  let service: TestService;
  before(async () => {
    provider = await startOidcProvider({ users });
    service = await startService({
      config: {
        'auth.idp_url': provider.url,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
        'auth.admin_role': 'operator',
      },
    });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  async function refresh(headers: Readonly<Record<string, string>>, body?: string): Promise<Response> {
    const url = `${service.healthUrl}/api/v1/catalogs/refresh`;
    return await fetch(url, { method: 'POST', headers, ...(body !== undefined && { body }) });
  }

  it('spec 5.6: lets in the session and the access token of who has the configured role', async () => {
    const bearer = await service.stranger().signIn('ada', users.ada.password);
    const { access_token: token } = await provider.tokensOf('ada');
    const sessions = await service.metric('svc_active_sessions');
    for (const each of [bearer, token]) {
      const headers = { authorization: `Bearer ${each}`, 'content-type': 'application/json' };
      const all = await refresh(headers);
      assert.deepEqual([all.status, await all.json()], [200, { invalidated: 'all' }]);
      const one = await refresh(headers, '{"username":"bob"}');
      assert.deepEqual([one.status, await one.json()], [200, { invalidated: 'session:bob' }]);
    }
    assert.equal(await service.metric('svc_active_sessions'), sessions, 'no session of the token');
  });

  it('spec 7: answers 403 to who is known and has not the role', async () => {
    const bearer = await service.stranger().signIn('bob', users.bob.password);
    const { access_token: token } = await provider.tokensOf('bob');
    for (const each of [bearer, token]) {
      const response = await refresh({ authorization: `Bearer ${each}` });
      assert.equal(response.status, 403);
      assert.match(await response.text(), /PERMISSION_DENIED.*operator/);
    }
  });

  it('spec 7: answers 401 without a token and with a bad one', async () => {
    const { access_token: token } = await provider.tokensOf('ada');
    const basic = Buffer.from(`ada:${users.ada.password}`).toString('base64');
    for (const authorization of [
      '',
      `Bearer ${token.slice(0, -4)}`,
      `Bearer ${'x'.repeat(43)}`,
      `Basic ${basic}`,
    ])
      assert.equal((await refresh({ authorization })).status, 401, authorization.slice(0, 10));
  });

  it('spec 7: answers 401 to the local user where no provider is configured', async () => {
    await using local = await startService();
    const bearer = await local.stranger().signIn(local.username, local.password);
    const response = await fetch(`${local.healthUrl}/api/v1/catalogs/refresh`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
    });
    assert.equal(response.status, 401);
    assert.match(await response.text(), /auth\.idp_url/);
  });
});

/** Signing in with an identity provider: a real one, a whole service, clients over the wire. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.js';
import { value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

const users = {
  ada: { password: "Ada's own word", roles: ['analyst', 'admin'] },
  bob: { password: 'word of bob', roles: [] },
};

describe('with the password grant', () => {
  let provider: OidcProvider;
  let service: TestService;
  before(async () => {
    provider = await startOidcProvider({ users });
    service = await startService({
      config: {
        'auth.idp_url': provider.url,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
      },
    });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  it('a user signs in by name and password, and gets a session id as bearer (spec 5.1, 5.2, 5.3)', async () => {
    const client = service.stranger();
    const bearer = await client.signIn('ada', users.ada.password);
    assert.match(bearer, /^[\w-]{43}$/);
    assert.equal(await value(client, 'SELECT 1'), 1);
    assert.equal(service.logRecords().at(-1)?.user, 'ada');
  });
});

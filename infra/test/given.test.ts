import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readGiven } from '../given';

const whole = {
  SVC_DEPLOY_DOMAIN: 'sql.example.org',
  SVC_DEPLOY_CLIENT_CIDRS: '203.0.113.0/24',
  SVC_CATALOG__CATALOG_URL: 'https://catalog.example.org',
  SVC_AUTH__IDP_URL: 'https://id.example.org',
  SVC_AUTH__CLIENT_ID: 'svc',
};

describe('what an owner gives', () => {
  it('is asked for at once, by name', () => {
    assert.throws(
      () => readGiven({}),
      (error: Error) => {
        for (const name of Object.keys(whole)) assert.ok(error.message.includes(`${name} is not set`), name);
        return true;
      },
    );
  });

  it('counts as missing when it is blank', () => {
    assert.throws(() => readGiven({ ...whole, SVC_DEPLOY_DOMAIN: ' ' }), /SVC_DEPLOY_DOMAIN is not set/);
  });

  it('names ranges of clients, and nothing else', () => {
    const { clientCidrs } = readGiven({ ...whole, SVC_DEPLOY_CLIENT_CIDRS: '10.0.0.0/8, 203.0.113.9/32,' });
    assert.deepEqual(clientCidrs, ['10.0.0.0/8', '203.0.113.9/32']);
    for (const wrong of ['10.0.0.1', 'everybody', '10.0.0.0/33', '::/0'])
      assert.throws(() => readGiven({ ...whole, SVC_DEPLOY_CLIENT_CIDRS: wrong }), /is no IPv4 range/, wrong);
  });

  it('passes on the service’s keys that are listed, and no others', () => {
    const { serviceKeys } = readGiven({
      ...whole,
      SVC_CATALOG__WAREHOUSE: 'w',
      SVC_AUTH__CLIENT_SECRET: 'not here',
      SVC_SERVER__BIND_ADDRESS: 'not here',
    });
    assert.deepEqual(serviceKeys, {
      SVC_CATALOG__CATALOG_URL: 'https://catalog.example.org',
      SVC_AUTH__IDP_URL: 'https://id.example.org',
      SVC_AUTH__CLIENT_ID: 'svc',
      SVC_CATALOG__WAREHOUSE: 'w',
    });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEnvironment } from './environment.js';

describe('readEnvironment', () => {
  it('names what the service reads from outside', () => {
    const variables = { HOME: '/home/ada', RUST_LOG: 'debug', SVC_USER: 'ada', SVC_PASSWORD: 'x' };
    const { homeDirectory, logFilter, user, password, workingDirectory } = readEnvironment(
      variables,
      '/work',
    );
    assert.deepEqual(
      [homeDirectory, logFilter, user, password, workingDirectory],
      ['/home/ada', 'debug', 'ada', 'x', '/work'],
    );
  });

  it('takes an empty variable for one that is not set', () => {
    const environment = readEnvironment({ HOME: '', RUST_LOG: '', SVC_USER: '' });
    assert.notEqual(environment.homeDirectory, '');
    assert.equal(environment.logFilter, undefined);
    assert.equal(environment.user, undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readProcessEnvironment } from './environment.js';

describe('readProcessEnvironment', () => {
  it('names what the service reads from outside', () => {
    const variables = { RUST_LOG: 'debug', SVC_USER: 'ada', SVC_PASSWORD: 'x' };
    assert.deepEqual(readProcessEnvironment(variables), {
      variables,
      logLevel: 'debug',
      user: 'ada',
      password: 'x',
    });
  });

  it('takes an empty variable for one that is not set', () => {
    const { logLevel, user } = readProcessEnvironment({ RUST_LOG: '', SVC_USER: '' });
    assert.deepEqual([logLevel, user], [undefined, undefined]);
  });
});

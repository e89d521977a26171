import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisAddress } from './redis-address.js';

const plain = {
  isCluster: false,
  isTls: false,
  nodes: [{ host: 'redis.test', port: 6379 }],
  username: undefined,
  password: undefined,
  database: 0,
};

describe('the address of a Redis', () => {
  const urls = {
    'redis://redis.test': plain,
    'redis://redis.test/': plain,
    'redis://redis.test:7000/3': { ...plain, nodes: [{ host: 'redis.test', port: 7000 }], database: 3 },
    'rediss://redis.test': { ...plain, isTls: true },
    'redis://[::1]:7000': { ...plain, nodes: [{ host: '::1', port: 7000 }] },
    'redis://:p%40ss@redis.test': { ...plain, password: 'p@ss' },
    'redis://svc:secret@redis.test': { ...plain, username: 'svc', password: 'secret' },
    'redis+cluster://redis.test': { ...plain, isCluster: true },
    'rediss+cluster://svc:secret@a:1,b:2,[::2]': {
      isCluster: true,
      isTls: true,
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
        { host: '::2', port: 6379 },
      ],
      username: 'svc',
      password: 'secret',
      database: 0,
    },
  };
  for (const [url, address] of Object.entries(urls)) {
    it(`is read from ${url}`, () => assert.deepEqual(parseRedisAddress(url), address));
  }

  const wrong = {
    'redis://svc:secret@redis.test:0': /port from 1 to 65535/,
    'redis://svc:secret@redis.test:70000': /port from 1 to 65535/,
    'redis://svc:secret%@redis.test': /% signs/,
    'redis+cluster://svc:secret@redis.test/1': /a cluster has only one/,
    'http://svc:secret@redis.test': /not a Redis URL/,
  };
  for (const [url, message] of Object.entries(wrong)) {
    it(`is refused without its password: ${url}`, () => {
      assert.throws(
        () => parseRedisAddress(url),
        (error) => error instanceof Error && message.test(error.message) && !error.message.includes('secret'),
      );
    });
  }
});

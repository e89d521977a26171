import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClientAddress } from './client-address.js';

const proxies = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.1'];

describe('the address of a client', () => {
  for (const [what, peer, header, expected] of [
    ['is the peer without a header', '198.51.100.7', undefined, '198.51.100.7'],
    ['is the peer when that is no trusted proxy', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['is what a trusted proxy wrote', '10.0.0.5', '203.0.113.9', '203.0.113.9'],
    ['is not what the client itself wrote', '10.0.0.5', '127.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['lies behind several trusted proxies', '10.0.0.5', '203.0.113.9, 192.0.2.1 ,10.1.1.1', '203.0.113.9'],
    ['is the farthest proxy when all are trusted', '10.0.0.5', '10.0.0.7,192.0.2.1', '10.0.0.7'],
    ['is the proxy that wrote no address', '10.0.0.5', 'unknown', '10.0.0.5'],
    ['is the last proxy before garbage', '10.0.0.5', '203.0.113.9, ;DROP, 10.0.0.6', '10.0.0.6'],
    ['is the proxy that wrote nothing', '10.0.0.5', '', '10.0.0.5'],
    ['is not behind an empty entry', '10.0.0.5', '203.0.113.9,,', '10.0.0.5'],
    ['has no port', '10.0.0.5', '203.0.113.9:4711', '203.0.113.9'],
    ['has no brackets', '10.0.0.5', '[2001:db8:2::9]', '2001:db8:2::9'],
    ['has neither brackets nor port', '10.0.0.5', '[2001:DB8:2:0::9]:443', '2001:db8:2::9'],
    ['is IPv4 in its own form', '::ffff:10.0.0.5', '::ffff:203.0.113.9', '203.0.113.9'],
    ['lies behind an IPv6 proxy', '2001:db8:1::5', '203.0.113.9', '203.0.113.9'],
    ['is no octal number', '10.0.0.5', '0177.0.0.1', '10.0.0.5'],
    ['is no name', '10.0.0.5', 'localhost', '10.0.0.5'],
    ['is no part of an address', '10.0.0.5', '[::1', '10.0.0.5'],
    ['is whatever the peer is that has none', 'unix:/run/socket', '203.0.113.9', 'unix:/run/socket'],
  ] as const) {
    it(what, () => assert.equal(createClientAddress(proxies)(peer, header), expected));
  }

  it('is found at the end of a header of any length', () => {
    const clientAddress = createClientAddress(proxies);
    assert.equal(clientAddress('10.0.0.5', `${'1.1.1.1,'.repeat(100_000)}203.0.113.9`), '203.0.113.9');
    assert.equal(clientAddress('10.0.0.5', 'x'.repeat(100_000)), '10.0.0.5');
    assert.equal(clientAddress('10.0.0.5', '10.0.0.6,'.repeat(100_000).slice(0, -1)), '10.0.0.6');
  });

  it('is the peer when nobody is trusted', () => {
    assert.equal(createClientAddress([])('127.0.0.1', '203.0.113.9'), '127.0.0.1');
  });
});

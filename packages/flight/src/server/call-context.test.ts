import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metadata, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { createClientAddress } from '@svc/base';
import { type ConnectionFacts, describeCall } from './call-context.js';

const plain: ConnectionFacts = {
  isTls: false,
  tlsTerminatedUpstream: false,
  clientAddress: (peer) => peer,
};

function describe(peer: string, connection = plain, metadata = new Metadata()) {
  const call = { getPeer: () => peer } as ServerInterceptingCallInterface;
  return describeCall(call, metadata, connection, new AbortController());
}

for (const [peer, address, isConfidential] of [
  ['127.0.0.1:5000', '127.0.0.1', true],
  ['127.8.9.10:5000', '127.8.9.10', true],
  ['::1:5000', '::1', true],
  ['::ffff:127.0.0.1:5000', '127.0.0.1', true],
  ['::ffff:10.0.0.7:5000', '10.0.0.7', false],
  ['10.0.0.7:5000', '10.0.0.7', false],
  ['2001:db8::1:5000', '2001:db8::1', false],
  ['unknown', 'unknown', false],
] as const) {
  test(`a plain connection from ${peer} is ${isConfidential ? '' : 'not '}confidential`, () => {
    const context = describe(peer);
    assert.deepEqual([context.clientAddress, context.isConfidential], [address, isConfidential]);
  });
}

test('TLS here or upstream makes any connection confidential', () => {
  assert.equal(describe('10.0.0.7:5000', { ...plain, isTls: true }).isConfidential, true);
  assert.equal(describe('10.0.0.7:5000', { ...plain, tlsTerminatedUpstream: true }).isConfidential, true);
});

test('what a proxy says of its client makes no connection confidential', () => {
  const metadata = new Metadata();
  metadata.set('x-forwarded-for', '127.0.0.1');
  const connection = { ...plain, clientAddress: createClientAddress(['10.0.0.0/8']) };
  const context = describe('10.0.0.7:5000', connection, metadata);
  assert.deepEqual([context.clientAddress, context.isConfidential], ['127.0.0.1', false]);
});

test('repeated headers are joined, secrets and binary ones left out', () => {
  const metadata = new Metadata();
  for (const name of ['authorization', 'cookie', 'proxy-authorization']) metadata.set(name, 'secret');
  metadata.set('token-bin', Buffer.from('secret'));
  metadata.add('x-tag', 'a');
  metadata.add('x-tag', 'b');
  assert.deepEqual([...describe('127.0.0.1:1', plain, metadata).headers], [['x-tag', 'a, b']]);
});

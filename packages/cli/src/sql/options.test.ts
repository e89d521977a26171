import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../usage-error.js';
import { parseSqlOptions } from './options.js';
import { parseServerAddress } from './session/server-address.js';

describe('the options of svc sql', () => {
  it('keep the order of texts and files', () => {
    assert.deepEqual(parseSqlOptions(['-c', 'a', '-f', 'b', '--command=c']).sources, [
      { kind: 'text', sql: 'a' },
      { kind: 'file', path: 'b' },
      { kind: 'text', sql: 'c' },
    ]);
  });

  it('that do not fit together are refused', () => {
    for (const args of [
      ['--format', 'xml'],
      ['--insecure'],
      ['--tls-roots', 'x'],
      ['--server', 'grpc://x', '--config', 'y'],
    ])
      assert.throws(() => parseSqlOptions(args), UsageError, args.join(' '));
  });
});

describe('the address of a server', () => {
  it('has a scheme, a host and perhaps a port', () => {
    const read = (text: string) => {
      const { host, port, isTls, isLoopback } = parseServerAddress(text);
      return [host, port, isTls, isLoopback];
    };
    assert.deepEqual(read('grpc+tls://example.com'), ['example.com', 50051, true, false]);
    assert.deepEqual(read('grpc://[::1]:1234/'), ['::1', 1234, false, true]);
    assert.deepEqual(read('grpc://LOCALHOST:1'), ['LOCALHOST', 1, false, true]);
  });

  it('that is none is refused, and so are credentials in it', () => {
    for (const text of ['', 'example.com', 'http://x', 'grpc://', 'grpc://x/y', 'grpc://x?y', 'grpc://u:p@x'])
      assert.throws(() => parseServerAddress(text), UsageError, text);
  });
});

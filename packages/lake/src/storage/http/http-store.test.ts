import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import type { ObjectStore } from '../object-store.js';
import { StorageTraffic } from '../remote/storage-traffic.js';
import { askedRange, sampleBytes, startTestServer, type TestServer } from '../testing/test-server.js';
import { createHttpStore, type HttpStoreOptions } from './http-store.js';

const MiB = 1024 * 1024;

interface Site {
  readonly server: TestServer;
  readonly store: ObjectStore;
  readonly url: string;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

async function withSite(
  handle: Handler,
  body: (site: Site) => Promise<void>,
  options: HttpStoreOptions = {},
) {
  await using server = await startTestServer(async (request, response) => {
    await handle(request, response);
  });
  const store = createHttpStore({
    ...options,
    limits: { firstDelayMs: 1, hedges: false, ...options.limits },
  });
  await body({ server, store, url: `${server.url}/x.parquet` });
}

/** A file of a server that answers ranges. */
function ranged(bytes: Buffer, headers: Readonly<Record<string, string>> = { etag: '"one"' }): Handler {
  return (request, response) => {
    const range = askedRange(request, bytes.length);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const part = range === undefined ? bytes : bytes.subarray(range.start, range.end);
    if (range !== undefined && range.start >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    if (range !== undefined) {
      response.statusCode = 206;
      response.setHeader('content-range', `bytes ${range.start}-${range.end - 1}/${bytes.length}`);
    }
    response.setHeader('content-length', part.length);
    response.end(request.method === 'HEAD' ? undefined : part);
  };
}

/** A file of a server that knows nothing of ranges. */
function whole(bytes: Buffer, headers: Readonly<Record<string, string>> = { etag: '"one"' }): Handler {
  return (request, response) => {
    response.writeHead(200, { 'content-length': bytes.length, ...headers });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  };
}

const equal = (actual: Uint8Array | undefined, expected: Uint8Array) =>
  assert.ok(Buffer.from(actual ?? []).equals(expected));

test('reads ranges, near ones by one request, over kept connections', async () => {
  const bytes = sampleBytes(20 * MiB);
  await withSite(
    ranged(bytes),
    async ({ server, store, url }) => {
      const { sizeBytes, version } = await store.head(url);
      assert.equal(sizeBytes, bytes.length);
      const answers = await store.readRanges(
        url,
        [
          { start: 10, end: 20 },
          { start: 30, end: 40 },
          { start: MiB, end: bytes.length },
        ],
        { version },
      );
      equal(answers[1], bytes.subarray(30, 40));
      equal(answers[2], bytes.subarray(MiB));
      equal(await store.read(url), bytes);
      assert.equal(server.requests.length, 1 + 1 + 3 + 3);
      assert.ok(server.connections() <= 3, `${server.connections()} connections`);
      assert.equal(server.requests[1]?.headers['if-match'], '"one"');
    },
    { traffic: new StorageTraffic({ maxBytesInFlight: 16 * MiB }) },
  );
});

test('asks with a GET of one byte where HEAD is refused or says nothing of the length', async () => {
  for (const status of [403, 405, 501, 200]) {
    const file = ranged(sampleBytes(1000));
    const handle: Handler = (request, response) =>
      request.method === 'HEAD' ? response.writeHead(status).end() : file(request, response);
    await withSite(handle, async ({ store, url, server }) => {
      assert.equal((await store.head(url)).sizeBytes, 1000);
      assert.deepEqual([server.requests.length, server.bytesSent()], [2, 1]);
    });
  }
});

test('an empty file is empty', async () => {
  for (const file of [ranged(Buffer.alloc(0)), whole(Buffer.alloc(0))])
    await withSite(file, async ({ store, url }) => {
      assert.equal((await store.head(url)).sizeBytes, 0);
      assert.equal((await store.read(url)).length, 0);
    });
});

test('reads a file once from a server without ranges, whoever asks for what of it', async () => {
  const bytes = sampleBytes(3 * MiB);
  await withSite(whole(bytes), async ({ store, url, server }) => {
    const { version } = await store.head(url);
    const reads = [0, 1, 2].map((index) =>
      store.readRanges(url, [{ start: index * MiB, end: index * MiB + 9 }], { version }),
    );
    for (const [index, [answer]] of (await Promise.all(reads)).entries())
      equal(answer, bytes.subarray(index * MiB, index * MiB + 9));
    const requests = server.requests.length;
    await store.readRanges(url, [{ start: 0, end: bytes.length }], { version });
    assert.equal(server.requests.length, requests);
    await assert.rejects(store.readRanges(url, [{ start: 0, end: bytes.length + 1 }], { version }), {
      code: 'DATA_CORRUPT',
    });
  });
});

test('refuses a file that is too large to be read whole, told or not', async () => {
  const bytes = sampleBytes(MiB);
  const chunked: Handler = (_request, response) => response.writeHead(200).end(bytes);
  for (const handle of [whole(bytes), chunked])
    await withSite(
      handle,
      async ({ store, url }) => {
        await assert.rejects(store.readRanges(url, [{ start: 0, end: 1 }]), {
          code: 'STORAGE_ERROR',
          message: /does not answer ranges of it, and such a file is read only up to 1000 bytes/,
        });
      },
      { maxWholeBytes: 1000 },
    );
});

test('takes the length of a chunked file from its bytes', async () => {
  const bytes = sampleBytes(5000);
  const handle: Handler = (request, response) => {
    response.writeHead(200);
    if (request.method === 'HEAD') return response.end();
    response.write(bytes.subarray(0, 100));
    return response.end(bytes.subarray(100));
  };
  await withSite(handle, async ({ store, url }) => {
    const { sizeBytes, version } = await store.head(url);
    assert.equal(sizeBytes, 5000);
    equal((await store.readRanges(url, [{ start: 90, end: 200 }], { version }))[0], bytes.subarray(90, 200));
  });
});

test('undoes an encoding that was not asked for, and keeps what the file itself is', async () => {
  const bytes = sampleBytes(5000);
  const handle: Handler = (request, response) =>
    ranged(gzipSync(bytes), { etag: '"z"', 'content-encoding': 'gzip' })(request, response);
  await withSite(handle, async ({ store, url, server }) => {
    const { sizeBytes, version } = await store.head(url);
    assert.equal(sizeBytes, 5000);
    equal((await store.readRanges(url, [{ start: 90, end: 200 }], { version }))[0], bytes.subarray(90, 200));
    equal(await store.read(`${server.url}/x.csv.gz`), gzipSync(bytes));
  });
});

test('an encoding that unfolds without end is refused', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * MiB));
  await withSite(
    whole(bomb, { 'content-encoding': 'gzip' }),
    async ({ store, url }) => {
      await assert.rejects(store.read(url), { code: 'STORAGE_ERROR', message: /only up to 1048576 bytes/ });
    },
    { maxWholeBytes: MiB },
  );
});

test('refuses a file that changed, by its ETag, weak or not, its date or its size', async () => {
  for (const [before, after] of [
    [{ etag: '"one"' }, { etag: '"two"' }],
    [{ etag: 'W/"one"' }, { etag: 'W/"two"' }],
    [
      { 'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT' },
      { 'last-modified': 'Sat, 21 Nov 2026 00:00:01 GMT' },
    ],
    [{}, {}],
  ] as const) {
    let file = ranged(sampleBytes(100), before);
    await withSite(
      (request, response) => file(request, response),
      async ({ store, url }) => {
        const { version } = await store.head(url);
        equal(
          (await store.readRanges(url, [{ start: 0, end: 9 }], { version }))[0],
          sampleBytes(9 + 3).subarray(0, 9),
        );
        file = ranged(sampleBytes(101), after);
        await assert.rejects(store.readRanges(url, [{ start: 0, end: 9 }], { version }), {
          code: 'STORAGE_ERROR',
          message: `${url} was changed while it was being read.`,
        });
      },
    );
  }
});

test('a file without any version is never taken for the same later', async () => {
  await withSite(ranged(sampleBytes(100), {}), async ({ store, url }) => {
    assert.notEqual((await store.head(url)).version, (await store.head(url)).version);
  });
});

test('follows redirects, once for many ranges, and leaves credentials behind', async () => {
  const bytes = sampleBytes(1000);
  await withSite(ranged(bytes), async ({ server: other }) => {
    const redirect: Handler = (_request, response) =>
      response.writeHead(302, { location: `${other.url}/signed?secret=1` }).end();
    await withSite(redirect, async ({ server, store }) => {
      const url = `${server.url.replace('://', '://ann:hunter2@')}/x`;
      const { version } = await store.head(url);
      for (const start of [0, 10, 20]) await store.readRanges(url, [{ start, end: start + 5 }], { version });
      assert.equal(server.requests.length, 1);
      assert.equal(server.requests[0]?.headers.authorization, `Basic ${btoa('ann:hunter2')}`);
      assert.deepEqual(
        other.requests.map(({ headers }) => headers.authorization),
        [undefined, undefined, undefined, undefined],
      );
    });
  });
});

test('goes by way of the first server again when a redirect is no longer good', async () => {
  const bytes = sampleBytes(1000);
  let signature = 1;
  const handle: Handler = (request, response) => {
    if (request.url === '/x.parquet')
      return response.writeHead(307, { location: `/signed/${signature}` }).end();
    return request.url === `/signed/${signature}`
      ? ranged(bytes)(request, response)
      : response.writeHead(403).end();
  };
  await withSite(handle, async ({ store, url }) => {
    const { version } = await store.head(url);
    signature = 2;
    equal((await store.readRanges(url, [{ start: 1, end: 9 }], { version }))[0], bytes.subarray(1, 9));
  });
});

test('refuses redirects without end and to what is no web server', async () => {
  for (const [to, message] of [
    ['/x.parquet', /more than 10 times/],
    ['file:///etc/passwd', /to file:/],
    ['http://[', /without a valid address/],
  ] as const)
    await withSite(
      (_request, response) => response.writeHead(301, { location: to }).end(),
      async ({ store, url }) => {
        await assert.rejects(store.head(url), { code: 'STORAGE_ERROR', message });
      },
    );
});

test('tells missing from forbidden, and tries again what may pass', async () => {
  let status = 404;
  let left = Number.POSITIVE_INFINITY;
  const file = ranged(sampleBytes(10));
  const handle: Handler = (request, response) =>
    left-- > 0 ? response.writeHead(status).end() : file(request, response);
  await withSite(handle, async ({ store, url, server }) => {
    await assert.rejects(store.head(url), { code: 'DATA_FILE_MISSING' });
    status = 401;
    await assert.rejects(store.head(url), { code: 'STORAGE_ACCESS_DENIED', message: /wants credentials/ });
    status = 403;
    await assert.rejects(store.read(url), { code: 'STORAGE_ACCESS_DENIED', message: /denies access/ });
    const before = server.requests.length;
    [status, left] = [503, 2];
    assert.equal((await store.read(url)).length, 10);
    assert.equal(server.requests.length - before, 3);
  });
});

test('tries again when an answer breaks off, and when it is shorter than announced', async () => {
  let broken = 2;
  const bytes = sampleBytes(1000);
  const handle: Handler = (request, response) => {
    if (broken-- <= 0) return ranged(bytes)(request, response);
    response.writeHead(206, { 'content-range': 'bytes 0-999/1000', etag: '"one"' });
    return broken === 0 ? response.write('half', () => response.destroy()) : response.end('half');
  };
  await withSite(handle, async ({ store, url, server }) => {
    equal(await store.read(url), bytes);
    assert.equal(server.requests.length, 3);
  });
});

test('no error has a password or a query of a URL in it', async () => {
  await withSite(
    (_request, response) => response.writeHead(400).end(),
    async ({ store, server }) => {
      const url = `${server.url.replace('://', '://ann:hunter2@')}/x?X-Amz-Signature=hunter2`;
      for (const call of [store.head, store.read, store.list, store.delete]) {
        const error: unknown = await call(url).catch((caught: unknown) => caught);
        assert.ok(error instanceof QueryError);
        assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /hunter2/);
        assert.ok(error.message.includes('/x'));
      }
    },
  );
});

test('a server that hangs up, or speaks no http, is a storage error', async () => {
  await withSite(
    (request) => request.socket.destroy(),
    async ({ store, url }) => {
      await assert.rejects(store.head(url), { code: 'STORAGE_ERROR', retryable: true });
    },
    { limits: { maxTries: 2 } },
  );
  await withSite(
    (request) => request.socket.end('nonsense\r\n\r\n'),
    async ({ store, url }) => {
      await assert.rejects(store.head(url), { code: 'STORAGE_ERROR' });
    },
    { limits: { maxTries: 2 } },
  );
});

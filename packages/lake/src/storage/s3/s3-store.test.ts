import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMetrics, QueryError } from '@svc/base';
import { seededRandom } from '../../iceberg/testing/seeded-random.js';
import { StorageTraffic } from '../remote/storage-traffic.js';
import { bucket, type FakeS3, type Fault, startFakeS3 } from '../testing/fake-s3.js';
import { sampleBytes } from '../testing/test-server.js';

const MiB = 1024 * 1024;
const location = `${bucket}/t/data.parquet`;

async function withS3(body: (s3: FakeS3) => Promise<void>): Promise<void> {
  await using s3 = await startFakeS3();
  await body(s3);
}

/** The fault for the first requests of a method. */
function firstOf(method: string, count: number, fault: Fault): FakeS3['fault'] {
  return (request) => (request.method === method && request.index < count ? fault : undefined);
}

const error503: Fault = { kind: 'error', status: 503, code: 'SlowDown' };

test('answers ranges in the order asked, near ones by one request', async () => {
  await withS3(async (s3) => {
    const bytes = sampleBytes(3 * MiB);
    s3.put('t/data.parquet', bytes);
    const ranges = [
      { start: 2 * MiB, end: 2 * MiB + 10 },
      { start: 4, end: 4 },
      { start: 100, end: 300 },
      { start: 200, end: 250 },
      { start: 400, end: 500 },
    ];
    const answers = await s3.store().readRanges(location, ranges);
    for (const [index, range] of ranges.entries())
      assert.deepEqual(Buffer.from(answers[index] ?? []), bytes.subarray(range.start, range.end));
    assert.equal(s3.count('GET'), 3);
  });
});

test('reads a large range in pieces of 8 MiB, over few connections', async () => {
  await withS3(async (s3) => {
    const bytes = sampleBytes(20 * MiB + 3);
    s3.put('t/data.parquet', bytes);
    const store = s3.store({ traffic: new StorageTraffic({ maxBytesInFlight: 16 * MiB }) });
    const { version } = await store.head(location);
    const [answer] = await store.readRanges(location, [{ start: 1, end: bytes.length }], { version });
    assert.ok(bytes.subarray(1).equals(Buffer.from(answer ?? [])));
    assert.deepEqual([s3.count('GET'), s3.server.bytesSent()], [3, bytes.length - 1]);
    assert.ok(s3.server.connections() <= 2, `${s3.server.connections()} connections`);
  });
});

test('reads a small object by one request, a large one and an empty one whole', async () => {
  await withS3(async (s3) => {
    const store = s3.store();
    for (const [size, requests] of [
      [10, 1],
      [0, 2],
      [9 * MiB, 2],
    ] as const) {
      const bytes = sampleBytes(size);
      s3.put('t/data.parquet', bytes);
      const before = s3.server.requests.length;
      assert.ok(bytes.equals(Buffer.from(await store.read(location))));
      assert.equal(s3.server.requests.length - before, requests);
    }
  });
});

test('tries again after 503, a reset and a cut body', async () => {
  for (const fault of [error503, { kind: 'reset' }, { kind: 'cut' }] as const)
    await withS3(async (s3) => {
      const bytes = sampleBytes(1000);
      s3.put('t/data.parquet', bytes);
      s3.fault = firstOf('GET', 2, fault);
      assert.ok(bytes.equals(Buffer.from(await s3.store().read(location))), fault.kind);
      assert.equal(s3.count('GET'), 3);
    });
});

test('gives up after a number of tries, with an error that names the object', async () => {
  await withS3(async (s3) => {
    s3.fault = () => error503;
    await assert.rejects(s3.store({ limits: { maxTries: 3 } }).head(location), {
      code: 'STORAGE_ERROR',
      message: `Storage answers HTTP status 503 for ${location}.`,
    });
    assert.equal(s3.count('HEAD'), 3);
  });
});

test('takes a server for lost that is silent', async () => {
  await withS3(async (s3) => {
    s3.put('t/data.parquet', sampleBytes(10));
    s3.fault = firstOf('GET', 1, { kind: 'late', ms: 60_000 });
    const store = s3.store({ limits: { maxSilenceMs: 100 } });
    assert.equal((await store.read(location)).length, 10);
  });
});

test('asks a second time for what is late, and only for a few', async () => {
  await withS3(async (s3) => {
    const bytes = sampleBytes(MiB);
    s3.put('t/data.parquet', bytes);
    const store = s3.store({ limits: { hedges: true } });
    const ranges = Array.from({ length: 100 }, (_, index) => ({ start: index * 10, end: index * 10 + 5 }));
    for (const range of ranges) await store.readRanges(location, [range]);
    s3.fault = (request) => (request.index === 100 ? { kind: 'late', ms: 60_000 } : undefined);
    const [answer] = await store.readRanges(location, [{ start: 1, end: 9 }]);
    assert.ok(bytes.subarray(1, 9).equals(Buffer.from(answer ?? [])));
    assert.ok(s3.count('GET') >= 102 && s3.count('GET') <= 106, `${s3.count('GET')} requests`);
  });
});

test('a scan of 200 ranges waits for none of the late answers, and sends few requests more', async () => {
  await withS3(async (s3) => {
    const stride = 512 * 1024;
    s3.put('t/data.parquet', Buffer.alloc(200 * stride));
    const random = seededRandom(6);
    const late = new Set(Array.from({ length: 2 }, () => random.below(200)));
    s3.fault = ({ method, index }) =>
      method === 'GET' && late.has(index) ? { kind: 'late', ms: 60_000 } : undefined;
    const ranges = Array.from({ length: 200 }, (_, index) => ({
      start: index * stride,
      end: index * stride + 64,
    }));
    await s3.store({ limits: { hedges: true } }).readRanges(location, ranges);
    assert.ok(s3.count('GET') >= 200 + late.size && s3.count('GET') <= 210, `${s3.count('GET')} requests`);
  });
});

test('refuses bytes of an object that was changed, whether or not its version was told', async () => {
  await withS3(async (s3) => {
    const changed = { code: 'STORAGE_ERROR', message: `${location} was changed while it was being read.` };
    s3.put('t/data.parquet', sampleBytes(100));
    const store = s3.store();
    const { version } = await store.head(location);
    s3.put('t/data.parquet', sampleBytes(20 * MiB));
    await assert.rejects(store.readRanges(location, [{ start: 0, end: 1 }], { version }), changed);
    await assert.rejects(store.read(location, { version }), changed);
    await assert.rejects(store.head(location, { version }), changed);
    s3.fault = ({ method, index }) => {
      if (method === 'GET' && index === 4) s3.put('t/data.parquet', Buffer.alloc(20 * MiB, index));
      return undefined;
    };
    await assert.rejects(store.read(location), changed);
  });
});

test('refuses a range outside of the object, and one that no object can have', async () => {
  await withS3(async (s3) => {
    s3.put('t/data.parquet', sampleBytes(100));
    const store = s3.store();
    for (const [start, end] of [
      [50, 101],
      [100, 101],
      [-1, 3],
      [3, 2],
      [0, Number.NaN],
    ] as const)
      await assert.rejects(
        store.readRanges(location, [{ start, end }]),
        { code: 'DATA_CORRUPT' },
        `${start}`,
      );
    const huge = store.readRanges(location, [{ start: 0, end: 2 ** 50 }]);
    await assert.rejects(huge, { code: 'STORAGE_ERROR', retryable: false });
  });
});

test('tells missing, forbidden and misplaced apart', async () => {
  await withS3(async (s3) => {
    const store = s3.store();
    const failWith = (status: number, code: string, headers = {}): void => {
      s3.fault = () => ({ kind: 'error', status, code, headers });
    };
    const head = () => store.head(location);
    const failure = () => store.readRanges(location, [{ start: 0, end: 1 }]);
    await assert.rejects(failure(), { code: 'DATA_FILE_MISSING' });
    failWith(404, 'NoSuchBucket');
    await assert.rejects(failure(), { code: 'DATA_FILE_MISSING', message: /bucket lake does not exist/ });
    failWith(403, 'AccessDenied');
    for (const call of [failure, head, () => store.list(bucket), () => store.delete(location)])
      await assert.rejects(call(), { code: 'STORAGE_ACCESS_DENIED', message: /lake.*\(AccessDenied\)/ });
    failWith(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-1' });
    for (const call of [failure, head])
      await assert.rejects(call(), { code: 'STORAGE_ERROR', message: /region eu-west-1, but .* us-east-1/ });
    failWith(400, 'InvalidArgument');
    await assert.rejects(failure(), { code: 'STORAGE_ERROR', retryable: false });
  });
});

test('asks for new credentials when storage says that they have expired, also on HEAD', async () => {
  await withS3(async (s3) => {
    s3.put('t/data.parquet', sampleBytes(10));
    let given = 0;
    const provide = async () => ({
      accessKeyId: `key${++given}`,
      secretAccessKey: 'hunter2',
      sessionToken: 't',
    });
    const store = s3.store({ access: { kind: 'provider', provide } });
    s3.fault = ({ headers }) =>
      headers.authorization?.includes('key1/')
        ? { kind: 'error', status: 400, code: 'ExpiredToken' }
        : undefined;
    assert.equal((await store.head(location)).sizeBytes, 10);
    assert.equal(given, 2);
    s3.fault = () => ({ kind: 'error', status: 400, code: 'ExpiredToken' });
    await assert.rejects(store.read(location), { code: 'STORAGE_ACCESS_DENIED', message: /have expired/ });
  });
});

test('passes on what the provider of credentials throws, and asks nothing of storage', async () => {
  await withS3(async (s3) => {
    const provide = () => Promise.reject(new QueryError('PERMISSION_DENIED', 'Not for you.'));
    const store = s3.store({ access: { kind: 'provider', provide } });
    await assert.rejects(store.head(location), { code: 'PERMISSION_DENIED' });
    assert.equal(s3.server.requests.length, 0);
  });
});

test('signs nothing for anonymous access', async () => {
  await withS3(async (s3) => {
    s3.put('t/data.parquet', sampleBytes(10));
    await s3.store({ access: { kind: 'anonymous' } }).read(location);
    assert.equal(s3.server.requests[0]?.headers.authorization, undefined);
  });
});

test('lists names directly below a folder, page by page', async () => {
  await withS3(async (s3) => {
    for (const key of ['t/', 't/a b+c', 't/ü&<', 't/sub/x', 't/sub/y', 't/z', 'tt'])
      s3.put(key, sampleBytes(1));
    s3.pageSize = 2;
    const store = s3.store();
    assert.deepEqual(await store.list(`${bucket}/t`), [
      { name: 'a b+c', isFolder: false },
      { name: 'sub', isFolder: true },
      { name: 'z', isFolder: false },
      { name: 'ü&<', isFolder: false },
    ]);
    assert.deepEqual(await store.list(`${bucket}/none/`), []);
    assert.deepEqual(
      (await store.list(bucket)).map(({ name }) => name),
      ['t', 'tt'],
    );
  });
});

test('writes an object once where it must not exist yet', async () => {
  await withS3(async (s3) => {
    const store = s3.store();
    const info = await store.write(location, sampleBytes(10), { ifAbsent: true });
    assert.deepEqual(await store.head(location), info);
    await assert.rejects(store.write(location, sampleBytes(9), { ifAbsent: true }), {
      code: 'COMMIT_CONFLICT',
    });
    await store.write(location, sampleBytes(8));
    assert.equal((await store.read(location)).length, 8);
    await store.delete(location);
    await store.delete(location);
    await assert.rejects(store.head(location), { code: 'DATA_FILE_MISSING' });
  });
});

test('replaces an object only where it is the one that the writer knows', async () => {
  await withS3(async (s3) => {
    const store = s3.store();
    const write = (size: number, ifVersion: string) =>
      store.write(location, sampleBytes(size), { ifVersion });
    await assert.rejects(write(5, '"none"'), { code: 'COMMIT_CONFLICT' });
    const first = await store.write(location, sampleBytes(10), { ifAbsent: true });
    s3.fault = firstOf('PUT', 3, { kind: 'lost' });
    const second = await write(11, first.version);
    assert.deepEqual(await store.head(location), second);
    await assert.rejects(write(12, first.version), { code: 'COMMIT_CONFLICT' });
    assert.equal((await store.read(location)).length, 11);
  });
});

test('knows its own write whose answer was lost, and another’s', async () => {
  await withS3(async (s3) => {
    s3.fault = firstOf('PUT', 1, { kind: 'lost' });
    const info = await s3.store().write(location, sampleBytes(10), { ifAbsent: true });
    assert.equal(info.version, s3.objects.get('t/data.parquet')?.etag);
    s3.fault = ({ method, index }) => (method === 'PUT' && index === 2 ? { kind: 'reset' } : undefined);
    const second = s3.store().write(location, sampleBytes(10), { ifAbsent: true });
    await assert.rejects(second, { code: 'COMMIT_CONFLICT' });
  });
});

test('does not know what became of a write when no answer came at all', async () => {
  await withS3(async (s3) => {
    s3.fault = ({ method }) => (method === 'PUT' ? { kind: 'reset' } : undefined);
    const write = s3.store({ limits: { maxTries: 2 } }).write(location, sampleBytes(10), { ifAbsent: true });
    await assert.rejects(write, { code: 'COMMIT_OUTCOME_UNKNOWN' });
  });
});

test('moves a file in, in parts when it is large, and only where nothing is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
  const file = join(folder, 'file');
  try {
    await withS3(async (s3) => {
      for (const size of [1000, 40 * MiB]) {
        s3.objects.clear();
        await writeFile(file, sampleBytes(size));
        s3.fault = firstOf('POST', 1, error503);
        await s3.store().moveIn(location, file);
        assert.ok(s3.objects.get('t/data.parquet')?.bytes.equals(sampleBytes(size)), `${size}`);
        await writeFile(file, sampleBytes(size));
        await assert.rejects(s3.store().moveIn(location, file), { code: 'COMMIT_CONFLICT' });
      }
      assert.equal(s3.uploads.size, 0, 'nothing is left of an upload that failed');
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an aborted upload leaves nothing behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 's3-store-'));
  try {
    await withS3(async (s3) => {
      await writeFile(join(folder, 'file'), sampleBytes(40 * MiB));
      const abort = new AbortController();
      s3.fault = ({ query }) => {
        if (query.get('partNumber') === '2') abort.abort();
        return undefined;
      };
      const move = s3.store().moveIn(location, join(folder, 'file'), { signal: abort.signal });
      await assert.rejects(move, { code: 'CANCELLED' });
      assert.deepEqual([s3.uploads.size, s3.objects.size], [0, 0]);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('ends at once when aborted', async () => {
  await withS3(async (s3) => {
    const abort = new AbortController();
    s3.fault = () => {
      abort.abort();
      return { kind: 'late', ms: 60_000 };
    };
    await assert.rejects(s3.store().read(location, { signal: abort.signal }), { code: 'CANCELLED' });
  });
});

test('counts requests and bytes', async () => {
  await withS3(async (s3) => {
    const metrics = createMetrics();
    const store = s3.store({ metrics });
    await store.write(location, sampleBytes(100));
    await store.read(location);
    await assert.rejects(store.head(`${bucket}/none`));
    const text = await metrics.text();
    assert.match(text, /svc_s3_requests_total\{operation="PutObject",status="ok"\} 1/);
    assert.match(text, /svc_s3_requests_total\{operation="HeadObject",status="error"\} 1/);
    assert.match(text, /svc_s3_bytes_read_total 100\n/);
    assert.match(text, /svc_s3_bytes_written_total 100\n/);
  });
});

test('no error has a credential in it', async () => {
  await withS3(async (s3) => {
    for (const [status, code] of [
      [403, 'SignatureDoesNotMatch'],
      [400, 'AuthorizationHeaderMalformed'],
      [500, 'InternalError'],
    ] as const) {
      s3.fault = () => ({ kind: 'error', status, code });
      const store = s3.store({ limits: { maxTries: 1 } });
      const error: unknown = await store.read(location).catch((caught: unknown) => caught);
      assert.ok(error instanceof QueryError);
      assert.doesNotMatch(
        `${error.stack} ${String(error.cause)} ${JSON.stringify(error.cause)}`,
        /hunter2|AWS4-HMAC/,
      );
    }
  });
});

test('a list without end, and answers without end, are refused', async () => {
  await withS3(async (s3) => {
    s3.fault = ({ index }) => ({
      kind: 'page',
      text: `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${index}</NextContinuationToken></ListBucketResult>`,
    });
    await assert.rejects(s3.store().list(`${bucket}/t`), {
      code: 'STORAGE_ERROR',
      message: /does not come to an end/,
    });
    s3.fault = () => ({ kind: 'page', text: `<ListBucketResult>${' '.repeat(20 * MiB)}` });
    await assert.rejects(s3.store().list(`${bucket}/t`), {
      code: 'STORAGE_ERROR',
      message: /larger than any that S3 gives/,
    });
    s3.fault = () => ({ kind: 'page', status: 403, text: '<Error>'.repeat(3 * MiB) });
    await assert.rejects(s3.store().read(location), { code: 'STORAGE_ACCESS_DENIED' });
  });
});

test('a size that no object has costs no memory', async () => {
  await withS3(async (s3) => {
    const headers = { etag: '"x"', 'content-length': String(2 ** 40) };
    s3.fault = ({ method }) => (method === 'HEAD' ? { kind: 'page', text: '', headers } : undefined);
    s3.put('t/data.parquet', sampleBytes(100));
    const store = s3.store();
    const { sizeBytes } = await store.head(location);
    assert.equal(sizeBytes, 2 ** 40);
    await assert.rejects(store.readRanges(location, [{ start: 2 ** 40 - 100, end: 2 ** 40 }]), {
      code: 'STORAGE_ERROR',
    });
    await assert.rejects(store.readRanges(location, [{ start: 0, end: 2 ** 40 }]), {
      message: /are not read as a whole/,
    });
  });
});

test('refuses a location without a bucket or a key', async () => {
  await withS3(async (s3) => {
    const store = s3.store();
    for (const wrong of [
      's3://',
      's3:///x',
      's3://lake',
      's3://lake/',
      's3://la ke/x',
      `s3://lake/${'x'.repeat(2000)}`,
      's3://lake/t/../other/x',
      's3://lake/t/%2E%2e/other/x',
      's3://lake/t/./x',
    ])
      await assert.rejects(store.head(wrong), { code: 'INVALID_ARGUMENT' }, wrong);
    assert.equal(s3.server.requests.length, 0);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '@svc/base';
import { createConnections } from '../../storage/remote/connections.js';
import { StorageTraffic } from '../../storage/remote/storage-traffic.js';
import { bucket, type FakeS3, startFakeS3 } from '../../storage/testing/fake-s3.js';
import { sampleBytes } from '../../storage/testing/test-server.js';
import { createVendedStore, type VendedStoreOptions } from './vended-store.js';

const location = `${bucket}/t/data.parquet`;

function vendedStore(s3: FakeS3, place: VendedStoreOptions['place']) {
  const keys = { 's3.access-key-id': 'key', 's3.secret-access-key': 'secret', 's3.endpoint': s3.server.url };
  const vended = [{ prefix: '', properties: new Map(Object.entries(keys)) }];
  return createVendedStore({
    tableName: 'sales.orders',
    tableLocation: `${bucket}/t`,
    scope: 'sales.orders',
    vended,
    renew: async () => vended,
    place,
    fallback: undefined,
  });
}

test('requests for every table are counted, and know at once how long the server takes', async () => {
  await using s3 = await startFakeS3();
  s3.put('t/data.parquet', sampleBytes(1000));
  const metrics = createMetrics();
  const traffic = new StorageTraffic();
  for (let table = 0; table < 10; table += 1)
    await vendedStore(s3, { metrics, traffic }).readRanges(location, [{ start: 0, end: 10 }]);
  s3.fault = ({ index }) => (index === 10 ? { kind: 'late', ms: 60_000 } : undefined);
  await vendedStore(s3, { metrics, traffic }).readRanges(location, [{ start: 0, end: 10 }]);
  const text = await metrics.text();
  assert.match(text, /svc_s3_requests_total\{operation="GetObject",status="ok"\} 11\n/);
  assert.match(text, /svc_s3_requests_total\{operation="GetObject",status="cancelled"\} 1\n/);
  assert.match(text, /svc_s3_bytes_read_total 110\n/);
});

test('the bytes under way are bounded for all tables together', async () => {
  await using s3 = await startFakeS3();
  s3.put('t/data.parquet', sampleBytes(1000));
  const place = {
    traffic: new StorageTraffic({ maxBytesInFlight: 100, maxRequests: 4 }),
    connections: createConnections(),
  };
  const stores = Array.from({ length: 10 }, () => vendedStore(s3, place));
  await Promise.all(stores.map((store) => store.readRanges(location, [{ start: 0, end: 50 }])));
  assert.ok(s3.server.connections() <= 2, `${s3.server.connections()} requests at a time`);
});

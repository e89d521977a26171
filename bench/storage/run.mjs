// A scan of 200 ranges of an S3 server that answers one of a hundred requests five seconds late. See ../README.md.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createS3Store, StorageTraffic } from '@svc/lake';

const rangeCount = 200;
const rangeBytes = 64 * 1024;
/** Ranges apart from each other, so that each is a request of its own. */
const stride = 512 * 1024;
const rounds = 5;

/** 20 ms are what object storage takes for a first byte. */
const workerData = { rangeBytes, sizeBytes: rangeCount * stride, usualMs: 20, lateMs: 5000 };
const server = new Worker(new URL('./late-server.mjs', import.meta.url), { workerData });
const [port] = await once(server, 'message');

const ranges = Array.from({ length: rangeCount }, (_, index) => ({
  start: index * stride,
  end: index * stride + rangeBytes,
}));
const contestants = [
  { name: 'no faults', hedges: true, share: 0 },
  { name: 'hedged', hedges: true, share: 1 },
  { name: 'not hedged', hedges: false, share: 1 },
].map((contestant) => ({ ...contestant, traffic: new StorageTraffic(), ms: [], requests: 0 }));

/** A store of its own each time, as each loading of a table makes one; what is known of the server stays. */
const scan = async (contestant, round) => {
  const { name, hedges, share, traffic } = contestant;
  const none = { inc: () => undefined };
  const s3Requests = {
    inc() {
      contestant.requests += 1;
    },
  };
  const store = createS3Store({
    endpoint: `http://127.0.0.1:${port}`,
    access: { kind: 'anonymous' },
    metrics: { s3Requests, s3BytesRead: none, s3BytesWritten: none },
    limits: { hedges },
    traffic,
  });
  const location = `s3://lake/${share}-of-100-late/${round}-${name.replaceAll(' ', '-')}.parquet`;
  const since = performance.now();
  await store.readRanges(location, ranges, { version: '"1"' });
  contestant.ms.push(performance.now() - since);
};

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
for (let round = 0; round < rounds; round += 1)
  for (let turn = 0; turn < contestants.length; turn += 1)
    await scan(contestants[(round + turn) % contestants.length], round);
await server.terminate();

const [clean, hedged, unhedged] = contestants.map(({ ms, requests }) => ({ ms: median(ms), requests }));
const line = (name, measured, reference, unit) =>
  console.log(
    `${name.padEnd(30)} measured ${measured.toFixed(3)}  reference ${reference.toFixed(3)} ${unit}`,
  );
line('hedged / no faults', hedged.ms, clean.ms, 'ms');
line('hedged / not hedged', hedged.ms, unhedged.ms, 'ms');
line('requests / ranges', hedged.requests, rounds * rangeCount, 'requests');

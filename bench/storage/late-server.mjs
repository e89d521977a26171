// An S3 server in a thread of its own that answers some requests late: which, the key says by their share and a seed.
import { createServer } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { rangeBytes, sizeBytes, usualMs, lateMs } = workerData;
const body = Buffer.alloc(rangeBytes, 'svc');
const randoms = new Map();

/** Mulberry32: the same requests are late in every run. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const server = createServer((request, response) => {
  const [, share, seed] = /(\d+)-of-100-late\/(\d+)-/.exec(request.url).map(Number);
  const random = randoms.get(request.url) ?? randomFrom(seed);
  randoms.set(request.url, random);
  const [start, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range).slice(1).map(Number);
  const answer = () => {
    response.writeHead(206, {
      etag: '"1"',
      'content-length': last + 1 - start,
      'content-range': `bytes ${start}-${last}/${sizeBytes}`,
    });
    response.end(body.subarray(0, last + 1 - start));
  };
  const timer = setTimeout(answer, random() * 100 < share ? lateMs : usualMs);
  response.once('close', () => clearTimeout(timer));
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));

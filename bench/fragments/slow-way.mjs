// A way to an S3 server on which each request takes its time, and each connection brings so many bytes a second. The Host header goes on as it
// came, so that the server checks the signature that the client made.
import { createServer, request } from 'node:http';
import { Transform } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';

const { target, delayMs, bytesPerSecond } = workerData;
const { hostname, port } = new URL(target);

/** Gives on no more than the connection would have brought by then. */
function paced() {
  const since = performance.now();
  let bytes = 0;
  return new Transform({
    transform(chunk, _encoding, done) {
      bytes += chunk.length;
      const dueMs = since + (bytes / bytesPerSecond) * 1000 - performance.now();
      if (dueMs <= 1) done(null, chunk);
      else setTimeout(done, dueMs, null, chunk);
    },
  });
}

const server = createServer((incoming, response) => {
  const { method, url: path, headers } = incoming;
  const send = () => {
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(paced()).pipe(response);
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const timer = setTimeout(send, delayMs);
  response.once('close', () => clearTimeout(timer));
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));

// A proxy in front of an identity provider that says what was asked of it, and how long each answer took.
import { createServer, request } from 'node:http';
import { host } from './server-process.mjs';

const keptRequests = 100_000;
const requestsPath = '/-/requests';

/**
 * Answers `{ url, requests(), stop() }`. A request goes on as it came, the Host header too: a provider that names itself by
 * it names the proxy. `requests()`, and `GET /-/requests` as JSON, list those that were answered, in their order, as
 * `{ path, grant, status, milliseconds }`; `grant` is the grant type that a form names.
 */
export async function startIdentityProxy(target) {
  const { hostname, port } = new URL(target);
  const answered = [];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === requestsPath) {
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(answered));
      return;
    }
    forward({ hostname, port }, incoming, outgoing, (entry) => {
      if (answered.length < keptRequests) answered.push(entry);
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  return {
    url: `http://${host}:${server.address().port}`,
    requests: () => [...answered],
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(address, incoming, outgoing, onAnswered) {
  const began = performance.now();
  const chunks = [];
  const onward = request(
    { ...address, method: incoming.method, path: incoming.url, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
      answer.once('end', () =>
        onAnswered({
          path: incoming.url,
          grant: new URLSearchParams(Buffer.concat(chunks).toString()).get('grant_type'),
          status: answer.statusCode,
          milliseconds: performance.now() - began,
        }),
      );
    },
  );
  onward.once('error', () => outgoing.destroy());
  outgoing.once('close', () => onward.destroy());
  incoming.on('data', (chunk) => chunks.push(chunk)).pipe(onward);
}

// A proxy in front of an identity provider that says what was asked of it, and how long each answer took.
import { createServer, request } from 'node:http';
import { host } from './server-process.mjs';

const keptRequests = 100_000;
const requestsPath = '/-/requests';

/**
 * Answers `{ url, requests(), stop() }`. A request goes on as it came, the Host header too: a provider that names itself by
 * it names the proxy. `requests()`, and `GET /-/requests` as JSON, list them in their order as `{ path, grant, milliseconds }`;
 * `grant` is the grant type that a form names, and `milliseconds` is null until there is a whole answer.
 */
export async function startIdentityProxy(target) {
  const { hostname, port } = new URL(target);
  const seen = [];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === requestsPath) {
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(seen));
      return;
    }
    const entry = { path: incoming.url, grant: null, milliseconds: null };
    if (seen.length < keptRequests) seen.push(entry);
    forward({ hostname, port }, incoming, outgoing, entry);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve);
  });
  return {
    url: `http://${host}:${server.address().port}`,
    requests: () => seen.map((entry) => ({ ...entry })),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(address, incoming, outgoing, entry) {
  const began = performance.now();
  const chunks = [];
  const { method, url: path, headers } = incoming;
  const onward = request({ ...address, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
    answer.once('end', () => {
      entry.milliseconds = performance.now() - began;
    });
  });
  onward.once('error', () => outgoing.destroy());
  outgoing.once('close', () => onward.destroy());
  incoming.on('data', (chunk) => chunks.push(chunk)).pipe(onward);
  incoming.once('end', () => {
    entry.grant = new URLSearchParams(Buffer.concat(chunks).toString()).get('grant_type');
  });
}

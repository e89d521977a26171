// Ports of the loopback address for servers that are started a while after they were chosen, or started again.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const host = '127.0.0.1';

/** Below those that the kernel gives to connections and to who asks for any: nobody comes by one of these by chance. */
const [lowest, highest] = [20_000, 32_767];

/** A port that nobody listens on. */
export async function freePort() {
  const [port] = await freeNeighbours(1);
  return port;
}

/** As many ports in a row that nobody listens on. */
export async function freeNeighbours(count) {
  for (;;) {
    const first = randomInt(lowest, highest - count);
    const ports = Array.from({ length: count }, (_none, index) => first + index);
    const areFree = await Promise.all(ports.map(isFree));
    if (areFree.every(Boolean)) return ports;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

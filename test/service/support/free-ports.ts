import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the kernel gives to connections and to who asks for any: nobody comes by one of these by chance. */
const [lowest, highest] = [20_000, 32_768];

/** Ports of loopback that nobody listens on, all different. They may be used, left, and used again. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

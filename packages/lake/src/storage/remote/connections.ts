import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** Kept connections to servers. One that is idle does not keep the process alive. */
export interface Connections {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** Servers close an idle connection sooner or later; ours go first, so that no request meets the closing. */
const idleMs = 4_000;
const maxSocketsPerHost = 64;

export function createConnections(): Connections {
  const options = {
    keepAlive: true,
    maxSockets: maxSocketsPerHost,
    timeout: idleMs,
    scheduling: 'lifo',
  } as const;
  return { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) };
}

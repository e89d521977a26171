import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Connections } from './connections.js';

export interface RequestToSend {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** One request over http or https. The body of the answer must be read to its end or destroyed. */
export function sendRequest(
  { httpAgent, httpsAgent }: Connections,
  { url, body, ...options }: RequestToSend,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: httpsAgent })
        : httpRequest(url, { ...options, agent: httpAgent });
    request.once('response', resolve).once('error', reject);
    request.end(body);
  });
}

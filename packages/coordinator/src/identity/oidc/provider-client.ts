/** Every request to the identity provider: bounded in time and size, counted, without redirects, behind one breaker. */
import {
  type CircuitBreaker,
  createCircuitBreaker,
  type IdentityOperation,
  linkAbort,
  type Metrics,
  QueryError,
} from '@svc/base';
import { unavailable } from './unavailable.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** An answer of the provider: the request was granted (2xx), or refused (4xx), perhaps with a reason. */
export interface ProviderAnswer {
  readonly status: number;
  /** Always there for a granted request. */
  readonly body: JsonObject | undefined;
}

export interface ProviderClient {
  readonly breaker: Pick<CircuitBreaker, 'state'>;
  /** The JSON object at a URL. Throws IDENTITY_PROVIDER_UNAVAILABLE for everything else. */
  get(operation: IdentityOperation, url: string): Promise<JsonObject>;
  /** Throws IDENTITY_PROVIDER_UNAVAILABLE when there is no answer, or none that an OAuth server gives. */
  post(operation: IdentityOperation, url: string, form: URLSearchParams): Promise<ProviderAnswer>;
  /** Ends all requests that are under way. */
  close(): void;
}

export interface ProviderClientOptions {
  readonly timeoutMs: number;
  readonly metrics: Pick<Metrics, 'identityRequests' | 'identityRequestDuration'>;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

const maxAnswerBytes = 2 ** 20;
const failuresToOpen = 5;
const openMs = 5000;

export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { metrics, elapsed, timeoutMs } = options;
  const breaker = createCircuitBreaker({
    failuresToOpen,
    openMs,
    elapsed,
    refusal: () => unavailable('does not answer at the moment: try again in a few seconds'),
  });
  const closing = new AbortController();

  async function send(operation: IdentityOperation, url: string, init: RequestInit): Promise<ProviderAnswer> {
    let outcome: 'ok' | 'refused' | 'failed' | 'not_sent' = 'not_sent';
    const startedAt = elapsed();
    try {
      return await breaker.run(async () => {
        outcome = 'failed';
        using limit = linkAbort(closing.signal, timeoutMs, () =>
          unavailable(`did not answer within ${timeoutMs / 1000} s`),
        );
        const answer = await exchange(url, { ...init, signal: limit.signal });
        outcome = isGranted(answer.status) ? 'ok' : 'refused';
        return answer;
      });
    } finally {
      metrics.identityRequests.inc({ operation, outcome });
      if (outcome !== 'not_sent')
        metrics.identityRequestDuration.observe({ operation }, (elapsed() - startedAt) / 1000);
    }
  }

  return {
    breaker,
    async get(operation, url) {
      const { status, body } = await send(operation, url, { method: 'GET' });
      if (!isGranted(status) || body === undefined)
        throw unavailable(`has no ${operation} document at its address: it answered with status ${status}`);
      return body;
    },
    post: (operation, url, form) => send(operation, url, { method: 'POST', body: form }),
    close: () => closing.abort(unavailable('was not waited for: the service is stopping')),
  };
}

export function isGranted(status: number): boolean {
  return status >= 200 && status < 300;
}

async function exchange(url: string, init: RequestInit): Promise<ProviderAnswer> {
  try {
    const response = await fetch(url, {
      ...init,
      // A redirect would carry a password to wherever the answer says.
      redirect: 'manual',
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    });
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof QueryError) throw error;
    // What fetch throws says nothing; its cause says which connection failed, and how.
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw unavailable('cannot be reached', { cause });
  }
}

async function readAnswer(response: Response): Promise<ProviderAnswer> {
  const { status } = response;
  try {
    if (status >= 300 && status < 400)
      throw unavailable(`answered with a redirect (status ${status}), which is not followed`);
    if (status >= 500) throw unavailable(`answered with status ${status}`);
    const body = toJsonObject(await readBounded(response));
    if (body === undefined && isGranted(status))
      throw unavailable('answered with something that is not a JSON object');
    return { status, body };
  } finally {
    // Of a body that was not read to its end nothing more is wanted; one that was is closed already.
    await response.body?.cancel().catch(() => undefined);
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The loop's own end cancels the body, also when it throws.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxAnswerBytes) throw unavailable('answered with more than 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

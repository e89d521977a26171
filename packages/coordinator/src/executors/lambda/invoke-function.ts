/** One call of InvokeWithResponseStream, with what Lambda says of failures in our words. The SDK is loaded with the first one. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type {
  InvokeWithResponseStreamCommandOutput,
  InvokeWithResponseStreamCompleteEvent,
  LambdaClient,
  LambdaClientConfig,
} from '@aws-sdk/client-lambda';
import { QueryError, throwIfAborted } from '@svc/base';

type Sdk = typeof import('@aws-sdk/client-lambda');

export interface FunctionPlace {
  /** Name, with an alias behind a colon if there is one, or ARN. */
  readonly functionName: string;
  /** Default: what the SDK finds. */
  readonly region?: string | undefined;
  /** Default: AWS. */
  readonly endpoint?: string | undefined;
  /** Default: those that the SDK finds: the coordinator's own role. */
  readonly credentials?: LambdaClientConfig['credentials'];
}

/** Lambda takes no more now; nothing has been run. */
export class ThrottledInvocation extends Error {
  override readonly name = 'ThrottledInvocation';
}

export interface FunctionInvoker {
  /** What the function answers. Ends without an error only where Lambda says that it is complete. */
  invoke(payload: Uint8Array, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

const connectMs = 5_000;
/** Names of exceptions that say that there is too much of something. */
const throttles = new Set([
  'TooManyRequestsException',
  'EC2ThrottledException',
  'ENILimitReachedException',
  'SubnetIPAddressLimitReachedException',
  'ThrottlingException',
]);
const missing = new Set([
  'ResourceNotFoundException',
  'AccessDeniedException',
  'UnrecognizedClientException',
]);
/** By the words of Lambda, which it says of a sandbox. */
const reasons: Readonly<Record<string, string>> = {
  'Sandbox.Timedout': 'it took longer than it may',
  'Runtime.OutOfMemory': 'it took more memory than it has',
  'Runtime.ExitError': 'its process ended',
  'Function.ResponseSizeTooLarge': 'its answer was too large',
};

export function createFunctionInvoker(place: FunctionPlace, maxSockets: number): FunctionInvoker {
  let opening: Promise<{ readonly sdk: Sdk; readonly client: LambdaClient }> | undefined;
  const agents = [HttpAgent, HttpsAgent].map((Agent) => new Agent({ keepAlive: true, maxSockets }));

  async function open() {
    const sdk = await import('@aws-sdk/client-lambda');
    const { region, endpoint, credentials } = place;
    const [httpAgent, httpsAgent] = agents as [HttpAgent, HttpsAgent];
    const client = new sdk.LambdaClient({
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials !== undefined && { credentials }),
      // Who waits for a place tries again, and not each call for itself.
      maxAttempts: 1,
      requestHandler: { httpAgent, httpsAgent, connectionTimeout: connectMs },
    });
    return { sdk, client };
  }

  return {
    async invoke(payload, signal) {
      opening ??= open();
      try {
        const { sdk, client } = await opening;
        const command = new sdk.InvokeWithResponseStreamCommand({
          FunctionName: place.functionName,
          InvocationType: 'RequestResponse',
          LogType: 'None',
          Payload: payload,
        });
        return payloads(await client.send(command, { abortSignal: signal }), place, signal);
      } catch (error) {
        throwIfAborted(signal);
        throw invocationError(error, place);
      }
    },
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

async function* payloads(
  { EventStream: events }: InvokeWithResponseStreamCommandOutput,
  place: FunctionPlace,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let complete: InvokeWithResponseStreamCompleteEvent | undefined;
  try {
    for await (const event of events ?? []) {
      if (event.PayloadChunk?.Payload !== undefined) yield event.PayloadChunk.Payload;
      complete = event.InvokeComplete ?? complete;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw lost(place, 'its answer was cut', error);
  }
  throwIfAborted(signal);
  if (complete === undefined) throw lost(place, 'its answer was cut');
  if (complete.ErrorCode !== undefined) throw lost(place, reasonOf(complete));
}

/** Details are the function's own words: they may quote anything, so only the names of errors are taken over. */
function reasonOf({ ErrorCode = '', ErrorDetails }: InvokeWithResponseStreamCompleteEvent): string {
  const names = [ErrorCode, typeOf(ErrorDetails)];
  const known = names.map((name) => reasons[name]).find((reason) => reason !== undefined);
  return known ?? `it failed (${names.filter((name) => /^[\w.]{1,80}$/.test(name)).join(', ') || 'unknown'})`;
}

function typeOf(details: string | undefined): string {
  try {
    const parsed: unknown = JSON.parse(details ?? '');
    return String((parsed as { readonly errorType?: unknown }).errorType);
  } catch {
    return '';
  }
}

function invocationError(error: unknown, place: FunctionPlace): Error {
  if (!(error instanceof Error)) return lost(place, 'it could not be invoked', error);
  if (throttles.has(error.name)) return new ThrottledInvocation(error.name, { cause: error });
  if (missing.has(error.name) || error.name === 'CredentialsProviderError')
    return new QueryError(
      'NO_EXECUTOR',
      `The function ${place.functionName} cannot be invoked (${error.name}): see lambda.function_name and the coordinator's role.`,
      { cause: error },
    );
  const name = /^[\w.]{1,80}$/.test(error.name) ? error.name : 'unknown';
  return lost(place, `it could not be invoked (${name})`, error);
}

function lost({ functionName }: FunctionPlace, why: string, cause?: unknown): QueryError {
  return new QueryError('EXECUTOR_LOST', `The function ${functionName} was lost: ${why}.`, { cause });
}

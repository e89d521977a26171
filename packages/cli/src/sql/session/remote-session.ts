/** A session with a running service, over Flight SQL. */
import { isIP } from 'node:net';
import { QueryError } from '@svc/base';
import { createFlightClient, type FlightClient } from '@svc/flight';
import type { Answer, AnswerMessage, SqlSession } from '../answer/answer.js';
import type { ServerAddress } from './server-address.js';

export interface RemoteOptions {
  readonly address: ServerAddress;
  /** PEM of the certificates to trust instead of the system's. */
  readonly rootCertsPem?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** Credentials may go over a connection that others can read. */
  readonly isInsecureAllowed: boolean;
  readonly signal: AbortSignal;
}

/** A server that does not answer at all. */
const signInTimeoutMs = 20_000;
const closeTimeoutMs = 1_000;

/** Connects and signs in. Throws QueryError: UNAUTHENTICATED, INSECURE_TRANSPORT, PEER_UNAVAILABLE. */
export async function openRemoteSession(options: RemoteOptions): Promise<SqlSession> {
  const { address, token, signal } = options;
  const hasPassword = options.user !== undefined && options.password !== undefined;
  if (token === undefined && !hasPassword)
    throw new QueryError(
      'UNAUTHENTICATED',
      'There is nobody to sign in as: set SVC_USER and SVC_PASSWORD, or SVC_TOKEN.',
    );
  if (!address.isTls && !address.isLoopback && !options.isInsecureAllowed)
    throw new QueryError(
      'INSECURE_TRANSPORT',
      'The connection is not encrypted, and others could read the credentials: use grpc+tls://, or --insecure if the way to the server is protected otherwise.',
    );
  // gRPC names the server by its address then, which the runtime warns about: nothing that a person here could change.
  if (address.isTls && isIP(address.host) !== 0) process.noDeprecation = true;
  const client = createFlightClient({
    host: address.host,
    port: address.port,
    ...(address.isTls
      ? { tls: options.rootCertsPem === undefined ? {} : { rootCertsPem: options.rootCertsPem } }
      : {}),
  });
  try {
    if (token !== undefined) client.useBearer(token);
    else
      await client.signIn(options.user ?? '', options.password ?? '', {
        signal,
        deadlineMs: signInTimeoutMs,
      });
    // A bearer is looked at only when it is used.
    if (token !== undefined) await client.listActions({ signal, deadlineMs: signInTimeoutMs });
  } catch (error) {
    client.close();
    throw notReached(error, address);
  }
  return remoteSession(client, address, token === undefined);
}

function remoteSession(client: FlightClient, address: ServerAddress, isOwnSession: boolean): SqlSession {
  let isClosed = false;
  return {
    description: `${address.host}:${address.port}${address.isTls ? ' (TLS)' : ''}`,
    async run(sql, { signal }) {
      const { schema, tickets } = await client.planStatement(sql, { signal });
      return { schema, messages: ticketMessages(client, tickets, signal) };
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        // A bearer that was given to us may be in use elsewhere.
        if (isOwnSession)
          await client.action('CloseSession', new Uint8Array(0), { deadlineMs: closeTimeoutMs });
      } catch {
        // The server ends it when it has been idle for long enough.
      } finally {
        client.close();
      }
    },
  };
}

/** An iterator that can be left before its first message was asked for, and then still ends the calls. */
function ticketMessages(
  client: FlightClient,
  tickets: readonly Uint8Array[],
  signal: AbortSignal,
): Answer['messages'] {
  const messages = readTickets(client, tickets, signal);
  return { [Symbol.asyncIterator]: () => messages };
}

async function* readTickets(
  client: FlightClient,
  tickets: readonly Uint8Array[],
  signal: AbortSignal,
): AsyncGenerator<AnswerMessage, void, undefined> {
  for (const ticket of tickets) {
    let isSchema = true;
    for await (const { header, body } of client.read(ticket, { signal })) {
      if (!isSchema) yield { header, body, release: () => undefined };
      isSchema = false;
    }
  }
}

function notReached(caught: unknown, { host, port }: ServerAddress): QueryError {
  const error = QueryError.from(caught);
  if (error.code !== 'PEER_UNAVAILABLE' && error.code !== 'QUERY_TIMEOUT') return error;
  const why = error.code === 'QUERY_TIMEOUT' ? 'it does not answer' : error.message;
  return new QueryError('PEER_UNAVAILABLE', `There is no service at ${host}:${port}: ${why}`, {
    cause: caught,
  });
}

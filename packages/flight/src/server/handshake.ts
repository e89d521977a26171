import type { ServerDuplexStream } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import type { CallContext } from '../backend.js';
import { BasicAuthSchema, HandshakeRequestSchema, HandshakeResponseSchema } from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { bearerMetadata } from './admission.js';
import type { Authenticator } from './authenticator.js';
import { basicCredentials, readCredentials } from './credentials.js';

/** A client that opens a Handshake and then says nothing. */
const HANDSHAKE_MS = 30_000;

/**
 * Signs a client in, in whichever way it does it: an authorization header (Basic or Bearer, with no message or one
 * empty one), answered by a bearer in the initial metadata and again in the trailers, since some clients read only
 * one of them; or a BasicAuth payload, answered by the token as payload. Ends when the client has finished sending.
 */
export async function handshake<S>(
  call: ServerDuplexStream<Buffer, Buffer>,
  authenticator: Authenticator<S>,
  context: CallContext,
): Promise<void> {
  const credentials = readCredentials(call.metadata);
  if (credentials !== undefined) {
    const bearer = await authenticator.signIn(credentials, context);
    call.sendMetadata(bearerMetadata(bearer));
    await readMessages(call, context.signal, () => Promise.resolve());
    call.end(bearerMetadata(bearer));
    return;
  }
  let isSignedIn = false;
  await readMessages(call, context.signal, async (chunk) => {
    const request = decodeMessage(HandshakeRequestSchema, chunk, 'The handshake');
    if (isSignedIn || request.payload.length === 0) return;
    const basic = decodeMessage(BasicAuthSchema, request.payload, 'The payload of the handshake');
    const token = await authenticator.signIn(basicCredentials(basic.username, basic.password), context);
    isSignedIn = true;
    call.write(
      encodeMessage(HandshakeResponseSchema, {
        protocolVersion: request.protocolVersion,
        payload: Buffer.from(token),
      }),
    );
  });
  if (!isSignedIn)
    throw new QueryError(
      'UNAUTHENTICATED',
      'The handshake carries neither an authorization header nor a payload.',
    );
  call.end();
}

/** Handles one message after the other until the client's half-close. */
async function readMessages(
  call: ServerDuplexStream<Buffer, Buffer>,
  signal: AbortSignal,
  handle: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      let last = Promise.resolve();
      timer = setTimeout(
        () => reject(new QueryError('UNAUTHENTICATED', 'The handshake was not finished in time.')),
        HANDSHAKE_MS,
      );
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      call.once('error', reject);
      call.on('data', (chunk: Buffer) => {
        call.pause();
        last = handle(chunk).then(() => {
          call.resume();
        });
        last.catch(reject);
      });
      call.once('end', () => {
        last.then(resolve, reject);
      });
    });
  } finally {
    clearTimeout(timer);
    call.removeAllListeners('data');
    call.resume();
  }
}

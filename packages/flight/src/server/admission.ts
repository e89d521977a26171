/**
 * What happens to a call before its handler runs and before its body is read: refused while draining, given its
 * context and abort signal, and authenticated. Nothing of an unauthenticated request beyond one flow-control window is
 * ever buffered.
 */
import type { ServerHttp2Stream } from 'node:http2';
import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { bindScope, type Logger, openSpan, QueryError, withCorrelation } from '@svc/base';
import type { CallContext } from '../backend.js';
import { http2StreamOf, limitRequestBytes } from '../framing/grpc-internals.js';
import type { Authenticator } from './authenticator.js';
import { type ConnectionFacts, describeCall } from './call-context.js';
import { reportError, withStableCode } from './call-status.js';
import { readCredentials } from './credentials.js';
import { endRequest, rpcAttributes } from './request-span.js';
import { type FlightMethod, methodOfPath } from './service-definition.js';

/** A call that may run. */
export interface AdmittedCall<S> {
  readonly context: CallContext;
  /** Absent on Handshake, which is where sessions come from. */
  readonly session: S | undefined;
  /** The call under grpc-js's own, and its HTTP/2 stream where grpc-js shows it. */
  readonly transport: ServerInterceptingCallInterface;
  readonly stream: ServerHttp2Stream | undefined;
  /** Runs a part of the call with its correlation fields and its span: the events of its socket have neither. */
  within<T>(body: () => T): T;
}

export interface AdmissionOptions<S> {
  readonly authenticator: Pick<Authenticator<S>, 'authenticate'>;
  readonly connection: ConnectionFacts;
  readonly logger: Logger;
  /** A message of DoPut; those of other methods have the server's limit. */
  readonly maxUploadMessageBytes: number;
}

export interface Admission<S> {
  readonly interceptor: ServerInterceptor;
  /** The call that a handler was given this metadata with. */
  admitted(metadata: Metadata): AdmittedCall<S>;
  readonly isDraining: boolean;
  /** From now on nobody signs in; resolves once the calls that run now have ended, whatever came after them. */
  drain(): Promise<void>;
  /** Aborts what still runs. */
  abortAll(reason: QueryError): void;
}

/** What a client may send before it is known. */
const MAX_HANDSHAKE_BYTES = 64 * 1024;

/**
 * Calls that a draining server still takes: they give back what a running statement holds, or bring a statement, which is
 * the backend's to refuse, as it keeps account of statements.
 */
const methodsWhileDraining: ReadonlySet<FlightMethod> = new Set([
  'DoAction',
  'GetFlightInfo',
  'PollFlightInfo',
  'GetSchema',
  'DoGet',
  'DoPut',
]);

export function createAdmission<S>(options: AdmissionOptions<S>): Admission<S> {
  const { authenticator, connection, logger, maxUploadMessageBytes } = options;
  const admittedCalls = new WeakMap<Metadata, AdmittedCall<S>>();
  const running = new Set<AbortController>();
  let draining = false;
  let awaited: Set<AbortController> | undefined;
  let onIdle: (() => void) | undefined;

  const leave = (controller: AbortController) => {
    running.delete(controller);
    awaited?.delete(controller);
    if (awaited?.size === 0) onIdle?.();
  };

  const admit = async (
    method: FlightMethod,
    transport: ServerInterceptingCallInterface,
    reply: ServerInterceptingCall,
    metadata: Metadata,
    controller: AbortController,
  ): Promise<void> => {
    if (draining && !methodsWhileDraining.has(method)) throw shuttingDown();
    const context = describeCall(transport, metadata, connection, controller);
    const stream = http2StreamOf(transport);
    if (method === 'Handshake') {
      limitRequestBytes(transport, MAX_HANDSHAKE_BYTES);
      admittedCalls.set(metadata, { context, session: undefined, transport, stream, within: bindScope() });
      return;
    }
    const credentials = readCredentials(metadata);
    const { session, bearer } = await authenticator.authenticate(credentials, context);
    if (credentials?.kind === 'basic') reply.sendMetadata(bearerMetadata(bearer));
    if (method === 'DoPut') limitRequestBytes(transport, maxUploadMessageBytes);
    admittedCalls.set(metadata, { context, session, transport, stream, within: bindScope() });
  };

  const interceptor: ServerInterceptor = (definition, transport) => {
    const method = methodOfPath(definition.path);
    const controller = new AbortController();
    let sent: status | undefined;
    let endSpan = () => {};
    const sendStatus = transport.sendStatus.bind(transport);
    // grpc-js's own failures (limits, deadlines) pass here too, and get one of our codes.
    transport.sendStatus = (given) => {
      sent ??= given.code;
      sendStatus({ ...given, ...withStableCode(given.code, given.details) });
    };
    const reply = new ServerInterceptingCall(transport, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            running.add(controller);
            withCorrelation(headersOf(metadata), () => {
              const span = openSpan('flight_sql.request', rpcAttributes(method));
              endSpan = () => endRequest(span, sent);
              void span.within(() =>
                admit(method, transport, reply, metadata, controller).then(
                  () => proceed(metadata),
                  (error: unknown) => transport.sendStatus(reportError(error, logger, definition.path)),
                ),
              );
            });
          },
          // Fires at every end of a call, the normal one included.
          onCancel: () => {
            if (sent !== status.OK) controller.abort(endReason(transport, sent));
            leave(controller);
            endSpan();
          },
        }),
    });
    return reply;
  };

  return {
    interceptor,
    admitted(metadata) {
      const call = admittedCalls.get(metadata);
      if (call === undefined) throw new Error('A handler ran for a call that was not admitted.');
      return call;
    },
    get isDraining() {
      return draining;
    },
    drain() {
      draining = true;
      return new Promise((resolve) => {
        onIdle = resolve;
        awaited = new Set(running);
        if (awaited.size === 0) resolve();
      });
    },
    abortAll(reason) {
      for (const controller of running) controller.abort(reason);
    },
  };
}

/** The refusal of a draining server; the client may try another coordinator, or this one in a moment. */
export function shuttingDown(): QueryError {
  return new QueryError(
    'SHUTTING_DOWN',
    'The service is shutting down: send the statement again in a moment.',
  );
}

/** `authorization: Bearer …`, the way a session reaches a client. */
export function bearerMetadata(bearer: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${bearer}`);
  return metadata;
}

/** How much earlier than our own timer a client may see its deadline pass: its request's way here and the reset's. */
const DEADLINE_SKEW_MS = 100;

/** Why a call ended that did not end well: its handler may still have work to stop. */
function endReason(call: ServerInterceptingCallInterface, sent: status | undefined): QueryError {
  // The client's clock started first: at its deadline it resets the stream, a journey before ours has passed.
  if (Number(call.getDeadline()) - DEADLINE_SKEW_MS <= Date.now())
    return new QueryError('QUERY_TIMEOUT', 'The deadline of the call has passed.');
  return new QueryError(
    'CANCELLED',
    sent === undefined ? 'The client cancelled the call or went away.' : 'The call has ended with an error.',
  );
}

/** Values of the headers that came once. */
function headersOf(metadata: Metadata): (name: string) => string | undefined {
  return (name) => {
    const [value, ...others] = metadata.get(name);
    return value === undefined || others.length > 0 ? undefined : String(value);
  };
}

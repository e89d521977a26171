/** The Flight server of a worker: DoExchange and DoAction, and nothing of Flight SQL. */
import {
  logVerbosity,
  Server,
  type ServerDuplexStream,
  type ServerWritableStream,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { createClientAddress, type Logger, QueryError } from '@svc/base';
import type { IpcMessage } from '../framing/flight-data.js';
import { openCopyingSink, openZeroCopySink } from '../framing/result-sink.js';
import { sendMessages } from '../framing/send-result.js';
import { ActionSchema, ResultSchema } from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { type Admission, type AdmittedCall, createAdmission } from '../server/admission.js';
import { type CallStatus, reportError } from '../server/call-status.js';
import { type FlightServer, openGrpcListener, type ServerTls } from '../server/grpc-listener.js';
import { type FlightMethod, flightMethods, flightService } from '../server/service-definition.js';
import { openUpload } from '../server/upload.js';
import type { WorkerBackend } from './worker-backend.js';
import { maxTaskMessageBytes } from './worker-limits.js';

export interface WorkerServerOptions<S> {
  readonly backend: WorkerBackend<S>;
  readonly host: string;
  readonly port: number;
  readonly tls?: ServerTls;
  readonly keepalive: { readonly timeMs: number; readonly timeoutMs: number };
  readonly logger: Logger;
}

/** A task comes in pieces of 1 MiB. */
const MAX_RECEIVE_BYTES = 4 * 1024 * 1024;
const LAST_WORD_MS = 1000;

/** Throws CONFIGURATION_ERROR when the address cannot be bound or the certificate is not usable. */
export async function createWorkerServer<S>(options: WorkerServerOptions<S>): Promise<FlightServer> {
  const { backend, logger, keepalive } = options;
  setLogVerbosity(logVerbosity.NONE);
  const admission = createAdmission<Caller<S>>({
    authenticator: {
      async authenticate(credentials, context) {
        const bearer = credentials?.kind === 'bearer' ? credentials.token : undefined;
        return { session: { caller: await backend.admit(bearer, context) }, bearer: bearer ?? '' };
      },
    },
    connection: {
      isTls: options.tls !== undefined,
      tlsTerminatedUpstream: false,
      clientAddress: createClientAddress([]),
    },
    logger,
    maxUploadMessageBytes: MAX_RECEIVE_BYTES,
  });
  const server = new Server({
    interceptors: [admission.interceptor],
    'grpc.max_receive_message_length': MAX_RECEIVE_BYTES,
    'grpc.max_send_message_length': -1, // sendMessages checks, with a code
    'grpc.max_concurrent_streams': 1024,
    'grpc.keepalive_time_ms': keepalive.timeMs,
    'grpc.keepalive_timeout_ms': keepalive.timeoutMs,
    'grpc.enable_channelz': 0,
  });
  server.addService(flightService, createHandlers(backend, admission, logger));
  return await openGrpcListener(server, admission, { ...options, name: 'The worker' });
}

interface Caller<S> {
  readonly caller: S;
}

function createHandlers<S>(
  backend: WorkerBackend<S>,
  admission: Admission<Caller<S>>,
  logger: Logger,
): UntypedServiceImplementation {
  const admitted = <C extends Handled>(
    method: FlightMethod,
    run: (call: C, admittedCall: AdmittedCall<Caller<S>>, caller: S) => Promise<void>,
  ): ((call: C) => void) => {
    return (call) => {
      const admittedCall = admission.admitted(call.metadata);
      const { session, within } = admittedCall;
      void within(async () => {
        try {
          if (session === undefined) throw refused(method);
          await run(call, admittedCall, session.caller);
        } catch (error) {
          call.emit('error', reportError(error, logger, method));
        }
      });
    };
  };

  const doExchange = async (
    call: ServerDuplexStream<Buffer, IpcMessage>,
    { context, transport, stream }: AdmittedCall<Caller<S>>,
    caller: S,
  ): Promise<void> => {
    using upload = openUpload(call, transport, context.signal);
    const read = async () => {
      const message = await upload.read();
      if (message === undefined) return undefined;
      return { header: message.dataHeader, metadata: message.appMetadata, body: message.dataBody };
    };
    const messages = backend.exchange(caller, { read }, context);
    const sink =
      (stream === undefined ? undefined : openZeroCopySink(transport, stream)) ??
      openCopyingSink(call, stream);
    await sendMessages([], { messages }, sink, {
      signal: context.signal,
      maxMessageBytes: maxTaskMessageBytes,
      lastWordMs: LAST_WORD_MS,
      onBackgroundError: (error) => reportError(error, logger, 'DoExchange'),
    });
    call.end();
  };

  const doAction = async (
    call: ServerWritableStream<Buffer, Buffer>,
    { context }: AdmittedCall<Caller<S>>,
    caller: S,
  ): Promise<void> => {
    const { type, body } = decodeMessage(ActionSchema, call.request, 'The request');
    call.write(encodeMessage(ResultSchema, { body: await backend.action(caller, type, body, context) }));
    call.end();
  };

  const others = flightMethods.map((method) => [
    method,
    // The second argument is the callback of a call that answers once.
    (call: Handled, callback?: (error: CallStatus) => void) => {
      const status = reportError(refused(method), logger, method);
      if (callback === undefined) call.emit('error', status);
      else callback(status);
    },
  ]);
  return {
    ...Object.fromEntries(others),
    DoExchange: admitted('DoExchange', doExchange),
    DoAction: admitted('DoAction', doAction),
  };
}

interface Handled {
  readonly metadata: Parameters<Admission<unknown>['admitted']>[0];
  emit(event: 'error', status: CallStatus): boolean;
}

function refused(method: FlightMethod): QueryError {
  return new QueryError(
    'NOT_SUPPORTED',
    `A worker runs fragments of its coordinators: ${method} is none of its calls.`,
  );
}

/** The methods of the Flight service: each decodes, asks the backend, encodes, and turns every failure into a status. */
import type {
  handleUnaryCall,
  Metadata,
  ServerDuplexStream,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { type Logger, QueryError } from '@svc/base';
import type { CallContext, FlightSqlBackend, ResultStream } from '../backend.js';
import type { IpcMessage } from '../framing/flight-data.js';
import { openCopyingSink, openZeroCopySink } from '../framing/result-sink.js';
import { sendResult } from '../framing/send-result.js';
import { ActionSchema, ActionTypeSchema, ResultSchema, TicketSchema } from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { decodeTicket } from '../messages/command.js';
import { findAction, listActions } from './actions.js';
import { type Admission, type AdmittedCall, shuttingDown } from './admission.js';
import type { Authenticator } from './authenticator.js';
import { type CallStatus, reportError } from './call-status.js';
import { getFlightInfo, getSchema, pollFlightInfo } from './flight-info.js';
import { handshake } from './handshake.js';
import { metadataResult } from './metadata-answer.js';
import { put } from './put.js';
import type { FlightMethod } from './service-definition.js';

export interface HandlerOptions<S> {
  readonly backend: FlightSqlBackend<S>;
  readonly admission: Admission<S>;
  readonly authenticator: Authenticator<S>;
  readonly logger: Logger;
  readonly zeroCopy: boolean;
  readonly maxMessageBytes: number;
  readonly maxParameterBytes: number;
}

/** How long an ended result waits for its reader before the stream is cut off. */
const LAST_WORD_MS = 1000;

export function createHandlers<S>(options: HandlerOptions<S>): UntypedServiceImplementation {
  const { backend, admission, authenticator, logger } = options;

  const signedIn = (metadata: Metadata): AdmittedCall<S> & { readonly session: S } => {
    const call = admission.admitted(metadata);
    if (call.session === undefined) throw new Error('A call other than Handshake has a session.');
    return { ...call, session: call.session };
  };

  const unary =
    (
      method: FlightMethod,
      run: (request: Buffer, session: S, context: CallContext) => Promise<Buffer>,
    ): handleUnaryCall<Buffer, Buffer> =>
    (call, callback) => {
      const { session, context, within } = signedIn(call.metadata);
      void within(() =>
        run(call.request, session, context).then(
          (bytes) => callback(null, bytes),
          (error: unknown) => callback(reportError(error, logger, method)),
        ),
      );
    };

  const streaming =
    <C extends { readonly metadata: Metadata; emit(event: 'error', status: CallStatus): boolean }>(
      method: FlightMethod,
      run: (call: C) => Promise<void>,
    ): ((call: C) => void) =>
    (call) => {
      const { within } = admission.admitted(call.metadata);
      void within(() =>
        run(call).catch((error: unknown) => {
          call.emit('error', reportError(error, logger, method));
        }),
      );
    };

  const doGet = async (call: ServerWritableStream<Buffer, IpcMessage>): Promise<void> => {
    const admitted = signedIn(call.metadata);
    const { session, context, transport, stream } = admitted;
    const ticket = decodeTicket(decodeMessage(TicketSchema, call.request, 'The ticket').ticket);
    const result: ResultStream =
      ticket.kind === 'handle'
        ? await backend.run(session, ticket.handle, context)
        : metadataResult(ticket, backend, session, context);
    const sink =
      (options.zeroCopy && stream !== undefined ? openZeroCopySink(transport, stream) : undefined) ??
      openCopyingSink(call, stream);
    await sendResult(result, sink, {
      signal: context.signal,
      maxMessageBytes: options.maxMessageBytes,
      lastWordMs: LAST_WORD_MS,
      onBackgroundError: (error) => reportError(error, logger, 'DoGet'),
    });
    call.end();
  };

  const doAction = async (call: ServerWritableStream<Buffer, Buffer>): Promise<void> => {
    const { session, context } = signedIn(call.metadata);
    const { type, body } = decodeMessage(ActionSchema, call.request, 'The request');
    const action = findAction(type);
    if (admission.isDraining && !action.whileDraining) throw shuttingDown();
    const answer = await action.run(body, backend, session, context);
    if (answer !== undefined) call.write(encodeMessage(ResultSchema, { body: answer }));
    call.end();
  };

  const doPut = async (call: ServerDuplexStream<Buffer, Buffer>): Promise<void> => {
    const { session, context, transport } = signedIn(call.metadata);
    call.write(await put(call, transport, backend, session, context, options.maxParameterBytes));
    call.end();
  };

  const refuse = async (method: FlightMethod): Promise<never> => {
    throw new QueryError('NOT_SUPPORTED', `${method} is not supported by this version.`);
  };

  return {
    Handshake: streaming('Handshake', (call: ServerDuplexStream<Buffer, Buffer>) =>
      handshake(call, authenticator, admission.admitted(call.metadata).context),
    ),
    GetFlightInfo: unary('GetFlightInfo', (request, session, context) =>
      getFlightInfo(request, backend, session, context),
    ),
    GetSchema: unary('GetSchema', (request, session, context) =>
      getSchema(request, backend, session, context),
    ),
    DoGet: streaming('DoGet', doGet),
    DoPut: streaming('DoPut', doPut),
    DoAction: streaming('DoAction', doAction),
    ListActions: streaming('ListActions', async (call: ServerWritableStream<Buffer, Buffer>) => {
      signedIn(call.metadata);
      for (const action of listActions()) call.write(encodeMessage(ActionTypeSchema, action));
      call.end();
    }),
    ListFlights: streaming('ListFlights', (_call: ServerWritableStream<Buffer, Buffer>) =>
      refuse('ListFlights'),
    ),
    PollFlightInfo: unary('PollFlightInfo', (request, session, context) =>
      pollFlightInfo(request, backend, session, context),
    ),
    DoExchange: streaming('DoExchange', (_call: ServerDuplexStream<Buffer, Buffer>) => refuse('DoExchange')),
  };
}

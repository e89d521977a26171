import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { QueryError } from '@svc/base';
import type { CallContext, FlightSqlBackend } from '../backend.js';
import {
  CancelFlightInfoRequestSchema,
  CancelFlightInfoResultSchema,
  CancelStatus,
  CloseSessionResult_Status,
  CloseSessionResultSchema,
  FlightEndpointSchema,
  type FlightInfo,
  FlightInfoSchema,
  GetSessionOptionsResultSchema,
  RenewFlightEndpointRequestSchema,
  SetSessionOptionsRequestSchema,
  SetSessionOptionsResultSchema,
} from '../gen/Flight_pb.js';
import {
  ActionCancelQueryRequestSchema,
  ActionCancelQueryResult_CancelResult,
  ActionCancelQueryResultSchema,
  ActionClosePreparedStatementRequestSchema,
  ActionCreatePreparedStatementRequestSchema,
  ActionCreatePreparedStatementResultSchema,
} from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage, packAny, quoteTypeName, unpackAnyOf } from '../messages/any.js';
import { decodeTicket, refuseTransaction } from '../messages/command.js';
import {
  readSessionOptions,
  writeSessionOptionErrors,
  writeSessionOptions,
} from '../messages/session-options.js';

interface ActionHandler {
  readonly description: string;
  /** Still taken by a draining server: it only gives something back, or is a statement, which the backend refuses. */
  readonly whileDraining: boolean;
  /** The body of the one result, or undefined for none. */
  run<S>(
    body: Uint8Array,
    backend: FlightSqlBackend<S>,
    session: S,
    context: CallContext,
  ): Promise<Uint8Array | undefined>;
}

/** Every action that works. Prepared statements travel in an Any; session actions are plain, as their clients send them. */
const actions: Readonly<Record<string, ActionHandler>> = {
  CreatePreparedStatement: {
    description: 'Prepares a SQL statement: its schema, its parameters and a handle.',
    whileDraining: true,
    async run(body, backend, session, context) {
      const request = unpackAnyOf(ActionCreatePreparedStatementRequestSchema, body, 'The action body');
      refuseTransaction(request.transactionId);
      const prepared = await backend.prepare(session, request.query, context);
      return packAny(ActionCreatePreparedStatementResultSchema, {
        preparedStatementHandle: prepared.handle,
        datasetSchema: prepared.datasetSchema,
        parameterSchema: prepared.parameterSchema,
        isUpdate: prepared.isUpdate,
      });
    },
  },
  ClosePreparedStatement: {
    description: 'Closes a prepared statement.',
    whileDraining: true,
    async run(body, backend, session) {
      const request = unpackAnyOf(ActionClosePreparedStatementRequestSchema, body, 'The action body');
      await backend.closePrepared(session, request.preparedStatementHandle);
      return undefined;
    },
  },
  CancelFlightInfo: {
    description: 'Ends what runs for the tickets of a FlightInfo, and gives them up.',
    whileDraining: true,
    async run(body, backend, session, context) {
      const { info } = decodeMessage(CancelFlightInfoRequestSchema, body, 'The action body');
      const status = CancelStatus[await cancelTickets(info, backend, session, context)];
      return encodeMessage(CancelFlightInfoResultSchema, { status });
    },
  },
  CancelQuery: {
    description: 'What CancelFlightInfo does, for drivers from before it.',
    whileDraining: true,
    async run(body, backend, session, context) {
      const request = unpackAnyOf(ActionCancelQueryRequestSchema, body, 'The action body');
      const info = decodeMessage(FlightInfoSchema, request.info, 'The info of the action body');
      const result =
        ActionCancelQueryResult_CancelResult[await cancelTickets(info, backend, session, context)];
      return packAny(ActionCancelQueryResultSchema, { result });
    },
  },
  RenewFlightEndpoint: {
    description: 'Keeps the ticket of an endpoint for longer.',
    whileDraining: false,
    async run(body, backend, session, context) {
      const { endpoint } = decodeMessage(RenewFlightEndpointRequestSchema, body, 'The action body');
      if (endpoint === undefined)
        throw new QueryError('INVALID_ARGUMENT', 'The action body has no endpoint to renew.');
      const ticket = decodeTicket(endpoint.ticket?.ticket ?? new Uint8Array());
      // The ticket of a metadata command does not expire.
      if (ticket.kind !== 'handle') return encodeMessage(FlightEndpointSchema, endpoint);
      const expirationTime = timestampFromMs(await backend.renew(session, ticket.handle, context));
      return encodeMessage(FlightEndpointSchema, { ...endpoint, expirationTime });
    },
  },
  SetSessionOptions: {
    description: 'Sets or resets options of the session.',
    whileDraining: false,
    async run(body, backend, session) {
      const request = decodeMessage(SetSessionOptionsRequestSchema, body, 'The action body');
      const errors = await backend.setSessionOptions(session, readSessionOptions(request.sessionOptions));
      return encodeMessage(SetSessionOptionsResultSchema, writeSessionOptionErrors(errors));
    },
  },
  GetSessionOptions: {
    description: 'Answers the options of the session.',
    whileDraining: false,
    async run(_body, backend, session) {
      return encodeMessage(
        GetSessionOptionsResultSchema,
        writeSessionOptions(backend.sessionOptions(session)),
      );
    },
  },
  CloseSession: {
    description: 'Ends the session; its bearer is no longer valid.',
    whileDraining: true,
    async run(_body, backend, session) {
      await backend.closeSession(session);
      return encodeMessage(CloseSessionResultSchema, { status: CloseSessionResult_Status.CLOSED });
    },
  },
};

/** Answers from metadata are over before anybody could cancel them. */
async function cancelTickets<S>(
  info: FlightInfo | undefined,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<'CANCELLED' | 'CANCELLING' | 'NOT_CANCELLABLE'> {
  if (info === undefined || info.endpoint.length === 0)
    throw new QueryError('INVALID_ARGUMENT', 'The action body has no FlightInfo with an endpoint.');
  const handles = info.endpoint.flatMap(({ ticket }) => {
    const decoded = decodeTicket(ticket?.ticket ?? new Uint8Array());
    return decoded.kind === 'handle' ? [decoded.handle] : [];
  });
  if (handles.length === 0) return 'NOT_CANCELLABLE';
  const outcomes = await Promise.all(handles.map((handle) => backend.cancel(session, handle, context)));
  return outcomes.includes('cancelling') ? 'CANCELLING' : 'CANCELLED';
}

/** What ListActions answers: exactly the actions that work. */
export function listActions(): readonly { readonly type: string; readonly description: string }[] {
  return Object.entries(actions).map(([type, { description }]) => ({ type, description }));
}

/** Finds an action. Throws NOT_SUPPORTED naming those that exist. */
export function findAction(type: string): ActionHandler {
  const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
  if (action === undefined) {
    throw new QueryError(
      'NOT_SUPPORTED',
      `The action ${quoteTypeName(type)} is not supported; these are: ${Object.keys(actions).join(', ')}.`,
    );
  }
  return action;
}

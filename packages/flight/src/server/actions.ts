import { QueryError } from '@svc/base';
import type { CallContext, FlightSqlBackend } from '../backend.js';
import {
  CloseSessionResult_Status,
  CloseSessionResultSchema,
  GetSessionOptionsResultSchema,
  SetSessionOptionsRequestSchema,
  SetSessionOptionsResultSchema,
} from '../gen/Flight_pb.js';
import {
  ActionClosePreparedStatementRequestSchema,
  ActionCreatePreparedStatementRequestSchema,
  ActionCreatePreparedStatementResultSchema,
} from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage, packAny, quoteTypeName, unpackAnyOf } from '../messages/any.js';
import { refuseTransaction } from '../messages/command.js';
import {
  readSessionOptions,
  writeSessionOptionErrors,
  writeSessionOptions,
} from '../messages/session-options.js';

interface ActionHandler {
  readonly description: string;
  /** Still answered by a draining server: it only gives something back. */
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
    whileDraining: false,
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

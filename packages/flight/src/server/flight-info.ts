import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { QueryError } from '@svc/base';
import type { CallContext, FlightSqlBackend } from '../backend.js';
import {
  type FlightDescriptor,
  FlightDescriptor_DescriptorType,
  FlightDescriptorSchema,
  FlightInfoSchema,
  PollInfoSchema,
  SchemaResultSchema,
} from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { decodeCommand, encodeTicket } from '../messages/command.js';
import { metadataSchema } from './metadata-answer.js';

interface Planned {
  readonly schema: Uint8Array;
  readonly ticket: Uint8Array;
  /** Absent for what does not expire. */
  readonly expiresAtMs?: number;
}

/** GetFlightInfo: one endpoint on this connection, whose ticket answers exactly the schema given here. */
export async function getFlightInfo<S>(
  request: Buffer,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<Buffer> {
  return encodeMessage(FlightInfoSchema, await flightInfo(request, backend, session, context));
}

/** PollFlightInfo: an info is complete once the statement is planned, so that no poll is followed by another. */
export async function pollFlightInfo<S>(
  request: Buffer,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<Buffer> {
  const info = await flightInfo(request, backend, session, context);
  return encodeMessage(PollInfoSchema, { info, progress: 1 });
}

async function flightInfo<S>(
  request: Buffer,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<MessageInitShape<typeof FlightInfoSchema>> {
  const descriptor = readDescriptor(request);
  const { schema, ticket, expiresAtMs } = await plan(descriptor, backend, session, context);
  const expirationTime = expiresAtMs === undefined ? undefined : timestampFromMs(expiresAtMs);
  return {
    schema,
    flightDescriptor: descriptor,
    endpoint: [{ ticket: { ticket }, location: [], ...(expirationTime && { expirationTime }) }],
    totalRecords: -1n,
    totalBytes: -1n,
  };
}

/** GetSchema: the schema that GetFlightInfo would give. */
export async function getSchema<S>(
  request: Buffer,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<Buffer> {
  const { schema } = await plan(readDescriptor(request), backend, session, context);
  return encodeMessage(SchemaResultSchema, { schema });
}

/** The command of a descriptor. Throws INVALID_ARGUMENT for a path, which names nothing in Flight SQL. */
export function commandBytes(descriptor: FlightDescriptor): Uint8Array {
  if (descriptor.type !== FlightDescriptor_DescriptorType.CMD)
    throw new QueryError(
      'INVALID_ARGUMENT',
      'The descriptor must be of type CMD and hold a Flight SQL command.',
    );
  return descriptor.cmd;
}

function readDescriptor(request: Buffer): FlightDescriptor {
  return decodeMessage(FlightDescriptorSchema, request, 'The request');
}

async function plan<S>(
  descriptor: FlightDescriptor,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<Planned> {
  const bytes = commandBytes(descriptor);
  const command = decodeCommand(bytes);
  switch (command.kind) {
    case 'statement': {
      const { handle, ...planned } = await backend.planStatement(session, command.sql, context);
      return { ...planned, ticket: encodeTicket(handle) };
    }
    case 'prepared': {
      const { handle, ...planned } = await backend.planPrepared(session, command.handle, context);
      return { ...planned, ticket: encodeTicket(handle) };
    }
    case 'sql-info':
    case 'catalogs':
    case 'schemas':
    case 'tables':
    case 'table-types':
    case 'type-info':
    case 'primary-keys':
    case 'foreign-keys':
      // The ticket is the command, so that it can be answered by any coordinator and read by any client.
      return { schema: metadataSchema(command), ticket: bytes };
  }
}

import type { ServerDuplexStream } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { RecordBatchReader } from 'apache-arrow';
import { joinIpcStream } from '../arrow/ipc-message.js';
import type { CallContext, FlightSqlBackend } from '../backend.js';
import type { IpcMessage } from '../framing/flight-data.js';
import { FlightDataSchema, PutResultSchema } from '../gen/Flight_pb.js';
import { DoPutPreparedStatementResultSchema, DoPutUpdateResultSchema } from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { decodePutCommand, type PutCommand } from '../messages/command.js';
import { commandBytes } from './flight-info.js';

/**
 * DoPut. Of CommandPreparedStatementQuery: takes the parameters, at most `maxBytes`, and answers the handle to use from
 * now on. JDBC also "binds" when a statement has no parameters, with a batch of no columns: that changes nothing. Of
 * CommandStatementUpdate and CommandPreparedStatementUpdate: runs the statement and answers how many rows it changed.
 */
export async function put<S>(
  call: ServerDuplexStream<Buffer, Buffer>,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
  maxBytes: number,
): Promise<Buffer> {
  const { command, messages } = await readUpload(call, context.signal, maxBytes);
  if (command === undefined)
    throw new QueryError('INVALID_ARGUMENT', 'The first message of a DoPut must carry a descriptor.');
  const stream = joinIpcStream(messages);
  const parameters = hasColumns(messages, stream) ? stream : undefined;
  if (command.kind === 'bind') {
    const { handle } = command;
    const bound =
      parameters === undefined ? handle : await backend.bind(session, handle, parameters, context);
    return putResult(encodeMessage(DoPutPreparedStatementResultSchema, { preparedStatementHandle: bound }));
  }
  if (command.kind === 'update' && parameters !== undefined)
    throw new QueryError('INVALID_PARAMETER', 'Only prepared statements take parameters.');
  const recordCount =
    command.kind === 'update'
      ? await backend.update(session, command.sql, context)
      : await backend.updatePrepared(session, command.handle, parameters, context);
  return putResult(encodeMessage(DoPutUpdateResultSchema, { recordCount }));
}

function putResult(appMetadata: Buffer): Buffer {
  return encodeMessage(PutResultSchema, { appMetadata });
}

interface Upload {
  readonly command: PutCommand | undefined;
  readonly messages: readonly IpcMessage[];
}

/** Reads to the client's half-close. The command is checked on arrival, so that a refused upload is not awaited. */
function readUpload(
  call: ServerDuplexStream<Buffer, Buffer>,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const messages: IpcMessage[] = [];
    let command: PutCommand | undefined;
    let bytes = 0;
    const fail = (error: unknown) => {
      call.off('data', onData);
      call.resume(); // what is still on its way is dropped
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        bytes += chunk.length;
        if (bytes > maxBytes)
          throw new QueryError(
            'INVALID_ARGUMENT',
            `The bound parameters exceed the limit of ${maxBytes} bytes.`,
          );
        const data = decodeMessage(FlightDataSchema, chunk, 'A DoPut message');
        if (data.flightDescriptor !== undefined && command === undefined)
          command = decodePutCommand(commandBytes(data.flightDescriptor));
        if (data.dataHeader.length > 0) messages.push({ header: data.dataHeader, body: data.dataBody });
      } catch (error) {
        fail(error);
      }
    };
    call.on('data', onData);
    call.once('end', () => resolve({ command, messages }));
    call.once('error', fail);
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
  });
}

function hasColumns(messages: readonly IpcMessage[], stream: Buffer): boolean {
  if (messages.length === 0) return false;
  try {
    return RecordBatchReader.from(stream).open().schema.fields.length > 0;
  } catch (cause) {
    throw new QueryError('INVALID_PARAMETER', 'The bound parameters are not an Arrow stream.', { cause });
  }
}

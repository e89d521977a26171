import type { ServerDuplexStream, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { RecordBatchReader } from 'apache-arrow';
import { joinIpcStream } from '../arrow/ipc-message.js';
import type { CallContext, FlightSqlBackend } from '../backend.js';
import type { IpcMessage } from '../framing/flight-data.js';
import { PutResultSchema } from '../gen/Flight_pb.js';
import { DoPutPreparedStatementResultSchema, DoPutUpdateResultSchema } from '../gen/FlightSql_pb.js';
import { encodeMessage } from '../messages/any.js';
import { decodePutCommand } from '../messages/command.js';
import { commandBytes } from './flight-info.js';
import { ingest } from './ingest.js';
import { openUpload, type Upload, type UploadMessage } from './upload.js';

/**
 * DoPut. Of CommandPreparedStatementQuery: takes the parameters, at most `maxBytes`, and answers the handle to use from
 * now on. JDBC also "binds" when a statement has no parameters, with a batch of no columns: that changes nothing. Of
 * CommandStatementUpdate and CommandPreparedStatementUpdate: runs the statement and answers how many rows it changed. Of
 * CommandStatementIngest: hands the rows on as they come, and answers how many there were.
 */
export async function put<S>(
  call: ServerDuplexStream<Buffer, Buffer>,
  transport: ServerInterceptingCallInterface,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
  maxBytes: number,
): Promise<Buffer> {
  using upload = openUpload(call, transport, context.signal);
  const first = await upload.read();
  // Looked at on arrival, so that a refused upload is not awaited.
  if (first?.flightDescriptor === undefined)
    throw new QueryError('INVALID_ARGUMENT', 'The first message of a DoPut must carry a descriptor.');
  const command = decodePutCommand(commandBytes(first.flightDescriptor));
  if (command.kind === 'ingest') {
    const recordCount = await ingest(command, first, upload, backend, session, context);
    return putResult(encodeMessage(DoPutUpdateResultSchema, { recordCount }));
  }
  const messages = await collect(first, upload, maxBytes);
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

/** Reads to the client's half-close. */
async function collect(first: UploadMessage, upload: Upload, maxBytes: number): Promise<IpcMessage[]> {
  const messages: IpcMessage[] = [];
  let bytes = 0;
  for (let message: UploadMessage | undefined = first; message !== undefined; message = await upload.read()) {
    bytes += message.dataHeader.length + message.dataBody.length;
    if (bytes > maxBytes)
      throw new QueryError('INVALID_ARGUMENT', `The bound parameters exceed the limit of ${maxBytes} bytes.`);
    if (message.dataHeader.length > 0) messages.push({ header: message.dataHeader, body: message.dataBody });
  }
  return messages;
}

function hasColumns(messages: readonly IpcMessage[], stream: Buffer): boolean {
  if (messages.length === 0) return false;
  try {
    return RecordBatchReader.from(stream).open().schema.fields.length > 0;
  } catch (cause) {
    throw new QueryError('INVALID_PARAMETER', 'The bound parameters are not an Arrow stream.', { cause });
  }
}

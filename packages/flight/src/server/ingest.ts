import { QueryError } from '@svc/base';
import { encapsulateHeader, messageKind } from '../arrow/ipc-message.js';
import type { CallContext, FlightSqlBackend, UploadedMessage } from '../backend.js';
import type { PutCommand } from '../messages/command.js';
import type { Upload, UploadMessage } from './upload.js';

/** CommandStatementIngest: the rows behind the command go to the backend as it asks for them. Answers their number. */
export async function ingest<S>(
  { target }: PutCommand & { kind: 'ingest' },
  first: UploadMessage,
  upload: Upload,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): Promise<bigint> {
  if (first.dataHeader.length === 0 || messageKind(first.dataHeader) !== 'schema')
    throw new QueryError(
      'INVALID_ARGUMENT',
      'The first message of an ingest must carry the Arrow schema of its rows.',
    );
  const rows = { schema: encapsulateHeader(first.dataHeader), messages: messagesOf(upload) };
  return await backend.ingest(session, target, rows, context);
}

async function* messagesOf(upload: Upload): AsyncGenerator<UploadedMessage, void, undefined> {
  for (let message = await upload.read(); message !== undefined; message = await upload.read()) {
    if (message.dataHeader.length === 0) continue; // metadata of the application's own
    const kind = messageKind(message.dataHeader);
    if (kind !== 'batch' && kind !== 'dictionary')
      throw new QueryError(
        'INVALID_ARGUMENT',
        'Behind the schema of an ingest only record batches and dictionaries may come.',
      );
    yield { kind, header: message.dataHeader, body: message.dataBody };
  }
}

import { QueryError } from '@svc/base';
import { encapsulateHeader, splitIpcStream } from '@svc/flight/arrow';
import { type Table, tableToIPC } from 'apache-arrow';

export interface IpcParts {
  /** Encapsulated schema message. */
  readonly schema: Uint8Array;
  readonly messages: readonly { readonly header: Uint8Array; readonly body: Uint8Array }[];
}

/** A table as the parts of an Arrow IPC stream. */
export function ipcParts(table: Table): IpcParts {
  const [schema, ...messages] = splitIpcStream(tableToIPC(table, 'stream'));
  if (schema === undefined) throw new QueryError('INTERNAL_ERROR', 'An Arrow stream has no schema.');
  return { schema: encapsulateHeader(schema.header), messages };
}

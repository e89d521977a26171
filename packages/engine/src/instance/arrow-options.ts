/** The engine's Arrow conversion for one statement: schema of columns, and chunks to arrays. */
import { readCSchema } from '../arrow/c-schema-read.js';
import type { ArrowSchema } from '../arrow/types.js';
import type { OutAddress } from '../capi/functions.js';
import { arrowSchemaLayout } from '../capi/layouts.js';
import { type Address, addressOf, releaseArrowStruct } from '../capi/memory.js';
import type { ColumnDeclaration } from './columns.js';
import type { EngineConnection } from './connection.js';

export class ArrowOptions implements Disposable {
  readonly handle: Address;
  private readonly connection: EngineConnection;

  /** Takes the connection's settings as they are now: time zone and lossless conversion. */
  constructor(connection: EngineConnection) {
    const options: OutAddress = [0];
    connection.functions.connectionArrowOptions(connection.handle, options);
    this.connection = connection;
    this.handle = options[0];
  }

  schemaOf(columns: readonly ColumnDeclaration[]): ArrowSchema {
    const { functions } = this.connection;
    const names = columns.map((column) => bytesOf(`${column.name}\0`));
    const types = addressList(columns.map((column) => column.type));
    const namePointers = addressList(names.map(addressOf));
    const schema = new Uint8Array(new ArrayBuffer(arrowSchemaLayout.size));
    try {
      throwErrorData(
        this.connection,
        functions.toArrowSchema(this.handle, types, namePointers, columns.length, addressOf(schema)),
      );
      return readCSchema(addressOf(schema));
    } finally {
      releaseArrowStruct(addressOf(schema), arrowSchemaLayout.release);
      // Referred to by address only: emptied here, so that the texts live up to here.
      names.length = 0;
    }
  }

  [Symbol.dispose](): void {
    this.connection.functions.destroyArrowOptions([this.handle]);
  }
}

/**
 * Throws what a `duckdb_error_data` says, if it is an error; destroys it in any case. `typeOfBare` is the engine's type of
 * an error whose message comes without one.
 */
export function throwErrorData(connection: EngineConnection, error: Address, typeOfBare?: string): void {
  if (error === 0) return;
  const { functions } = connection;
  try {
    if (!functions.errorDataHasError(error)) return;
    const text = functions.errorDataMessage(error) ?? '';
    const isBare = typeOfBare !== undefined && !/^[A-Z][A-Za-z ]* Error: /.test(text);
    throw connection.error(isBare ? `${typeOfBare} Error: ${text}` : text);
  } finally {
    functions.destroyErrorData([error]);
  }
}

/** UTF-8 in memory that does not move. */
export function bytesOf(text: string): Uint8Array {
  const encoded = Buffer.from(text, 'utf8');
  const bytes = new Uint8Array(new ArrayBuffer(encoded.byteLength));
  bytes.set(encoded);
  return bytes;
}

/** A C array of addresses. */
export function addressList(addresses: readonly Address[]): Uint8Array {
  const words = new BigUint64Array(new ArrayBuffer(8 * Math.max(1, addresses.length)));
  addresses.forEach((address, index) => {
    words[index] = BigInt(address);
  });
  return new Uint8Array(words.buffer);
}

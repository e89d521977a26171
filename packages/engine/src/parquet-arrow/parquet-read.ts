import type { ParquetRead } from '../api.js';

/** A request on its way to a host: the schema's bytes, then the rest as JSON. */
export function encodeParquetRead({ schema, columns, files }: ParquetRead): Uint8Array {
  return Buffer.concat([schema, Buffer.from(JSON.stringify({ columns, files }))]);
}

/** `bytes` stay in use. */
export function decodeParquetRead(bytes: Buffer, schemaBytes: number): ParquetRead {
  const rest = JSON.parse(bytes.toString('utf8', schemaBytes)) as Pick<ParquetRead, 'columns' | 'files'>;
  return { schema: bytes.subarray(0, schemaBytes), ...rest };
}

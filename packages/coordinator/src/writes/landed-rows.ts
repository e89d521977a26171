/** Rows that a client sent as Arrow, as a table of the engine host that a fragment runs on. */
import { randomUUID } from 'node:crypto';
import { QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import { quoteIdentifier } from '@svc/sql';
import { RecordBatchReader, type Schema } from 'apache-arrow';
import { arrowEngineType } from './arrow-engine-type.js';

export interface LandingTable {
  /** SQL of its name: no statement of a client can name it. */
  readonly name: string;
  /** SQL of its columns by their position. */
  readonly column: (position: number) => string;
  /** Makes the table on a host and fills it; answers the number of rows. */
  fill(lease: EngineLease, stream: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<bigint>;
}

/** A table for rows of this schema. Throws NOT_SUPPORTED naming a column whose type the engine does not take. */
export function landingTable({ fields }: Schema): LandingTable {
  const table = `rows ${randomUUID()}`;
  const name = `memory.main.${quoteIdentifier(table)}`;
  const columns = fields.map((field, position) => `c${position} ${arrowEngineType(field)}`);
  return {
    name,
    column: (position) => `c${position}`,
    async fill(lease, stream, signal) {
      await lease.execute([`CREATE TABLE ${name} (${columns.join(', ')})`], signal);
      return await lease.ingest({ catalog: 'memory', schema: 'main', table }, stream, signal);
    },
  };
}

/** The schema that an Arrow IPC stream begins with. Throws INVALID_ARGUMENT. */
export function arrowSchemaOf(stream: Uint8Array): Schema {
  try {
    return RecordBatchReader.from(stream).open().schema;
  } catch (cause) {
    throw new QueryError('INVALID_ARGUMENT', 'The Arrow schema cannot be read.', { cause });
  }
}

import { QueryError } from '@svc/base';
import type { IcebergType } from '@svc/lake';
import { quoteString } from '@svc/sql';
import { engineType } from './engine-type.js';

/**
 * SQL of a constant column, from the JSON single-value form of the Iceberg specification (appendix D): dates and
 * times as ISO text, decimals as text, binary as hex digits. Text goes through the engine's own cast.
 */
export function constantSql(value: unknown, type: IcebergType): string {
  const name = engineType(type);
  if (value === null || value === undefined) return `CAST(NULL AS ${name})`;
  if ((type.kind === 'binary' || type.kind === 'fixed') && typeof value === 'string') {
    return `unhex(${quoteString(value)})`;
  }
  if (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean'
  ) {
    return `CAST(${quoteString(String(value))} AS ${name})`;
  }
  throw new QueryError('UNSUPPORTED_TABLE_FEATURE', `A default value of type ${type.kind} cannot be read.`);
}

import { QueryError } from '@svc/base';
import type { TableFile } from '../iceberg/manifests/data-file.js';

/**
 * What a file that is to be read is known by as Avro (see DataFileInfo); `undefined` for Parquet. Throws
 * UNSUPPORTED_TABLE_FEATURE naming the file, its table and its format when it is neither.
 */
export function avroRowsOf(kind: 'data' | 'delete', file: TableFile, tableName: string): number | undefined {
  if (file.format === 'PARQUET') return undefined;
  if (file.format === 'AVRO') return file.recordCount;
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The ${kind} file ${file.location} of table ${tableName} has the format ${file.format}; Parquet and Avro are read.`,
  );
}

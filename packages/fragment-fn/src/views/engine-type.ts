import type { IcebergType } from '@svc/lake';
import { quoteIdentifier } from '@svc/sql';

/** The engine's name of an Iceberg type: what a column of a planning view and of a scan view has. */
export function engineType(type: IcebergType): string {
  switch (type.kind) {
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return 'INTEGER';
    case 'long':
      return 'BIGINT';
    case 'float':
      return 'FLOAT';
    case 'double':
      return 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'date':
      return 'DATE';
    case 'time':
      return 'TIME';
    case 'timestamp':
      return 'TIMESTAMP';
    case 'timestamptz':
    case 'timestamptz_ns':
      // The engine has no zoned type finer than microseconds; docs/sql.md says so.
      return 'TIMESTAMP WITH TIME ZONE';
    case 'timestamp_ns':
      return 'TIMESTAMP_NS';
    case 'string':
      return 'VARCHAR';
    case 'uuid':
      return 'UUID';
    case 'fixed':
    case 'binary':
      return 'BLOB';
    case 'unknown':
      return 'INTEGER';
    case 'unsupported':
      // A stand-in that keeps the column's place; reading it is refused when the scan is planned.
      return 'BLOB';
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoteIdentifier(field.name)} ${engineType(field.type)}`).join(', ')})`;
    case 'list':
      return `${engineType(type.element)}[]`;
    case 'map':
      return `MAP(${engineType(type.key)}, ${engineType(type.value)})`;
  }
}

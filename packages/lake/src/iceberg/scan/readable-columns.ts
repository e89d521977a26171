import { QueryError } from '@svc/base';
import type { ColumnPath } from '@svc/sql';
import { findField } from '../expressions/bind-filter.js';
import { printType } from '../spec/type-text.js';
import type { IcebergType, Schema } from '../spec/types.js';

/**
 * Throws UNSUPPORTED_TABLE_FEATURE naming the first column of a type that is not read, among those that a query wants
 * (`undefined`: all). A query that leaves such columns alone runs.
 */
export function checkReadableColumns(
  schema: Schema,
  columns: readonly ColumnPath[] | undefined,
  tableName: string,
): void {
  for (const path of columns ?? schema.fields.map((field) => [field.name])) {
    const field = findField(path, schema.fields);
    const refused = field === undefined ? undefined : unsupportedPart(field.type);
    if (refused !== undefined)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `Column ${path.join('.')} of table ${tableName} has the type ${printType(refused)}, which this version does not read.`,
      );
  }
}

function unsupportedPart(type: IcebergType): IcebergType | undefined {
  switch (type.kind) {
    case 'unsupported':
      return type;
    case 'struct':
      return firstOf(type.fields.map((field) => field.type));
    case 'list':
      return unsupportedPart(type.element);
    case 'map':
      return firstOf([type.key, type.value]);
    default:
      return undefined;
  }
}

function firstOf(types: readonly IcebergType[]): IcebergType | undefined {
  for (const type of types) {
    const part = unsupportedPart(type);
    if (part !== undefined) return part;
  }
  return undefined;
}

import type { ColumnConversion, ColumnSource } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import { constantSql } from './constant-sql.js';
import { engineType } from './engine-type.js';

/** What rows inherit from their file, as SQL. */
export interface InheritedSql {
  readonly rowId: string;
  readonly sequenceNumber: string;
}

/** SQL that makes one table column from a file's physical columns. */
export function sourceSql(source: ColumnSource, inherited?: InheritedSql): string {
  switch (source.kind) {
    case 'constant':
      return constantSql(source.value, source.type);
    case 'row-id':
    case 'sequence-number': {
      const stored = source.stored === undefined ? [] : [sourceSql(source.stored)];
      const own = source.kind === 'row-id' ? inherited?.rowId : inherited?.sequenceNumber;
      return `coalesce(${[...stored, own ?? 'NULL'].join(', ')})`;
    }
    default:
      return valueSql(source, quoteIdentifier(source.name), 0);
  }
}

/** `base` is the SQL of the physical value that `source` describes; `depth` keeps lambda variables apart. */
function valueSql(source: ColumnSource, base: string, depth: number): string {
  switch (source.kind) {
    case 'constant':
    case 'row-id':
    case 'sequence-number':
      return sourceSql(source);
    case 'column':
      return source.isExactType
        ? base
        : `CAST(${convertedSql(base, source.conversion)} AS ${engineType(source.type)})`;
    case 'struct': {
      const fields = source.fields.map((field) => {
        const child =
          field.source.kind === 'constant'
            ? constantSql(field.source.value, field.source.type)
            : valueSql(field.source, fieldOf(base, field.source), depth);
        return `${quoteIdentifier(field.name)} := ${child}`;
      });
      return `CASE WHEN ${base} IS NULL THEN NULL ELSE struct_pack(${fields.join(', ')}) END`;
    }
    case 'list': {
      const item = `e${depth}`;
      return `list_transform(${base}, lambda ${item}: ${valueSql(source.element, item, depth + 1)})`;
    }
    case 'map': {
      const entry = `e${depth}`;
      const key = valueSql(source.key, `${entry}.key`, depth + 1);
      const value = valueSql(source.value, `${entry}.value`, depth + 1);
      return `map_from_entries(list_transform(map_entries(${base}), lambda ${entry}: struct_pack(k := ${key}, v := ${value})))`;
    }
  }
}

function fieldOf(base: string, source: ColumnSource): string {
  return 'name' in source ? `struct_extract(${base}, ${quoteString(source.name)})` : base;
}

/** See ColumnConversion: what a cast alone would get wrong. */
function convertedSql(base: string, conversion: ColumnConversion | undefined): string {
  switch (conversion) {
    case 'decode-utf8':
      return `decode(${base})`;
    case 'at-utc':
      return `(${base} AT TIME ZONE 'UTC')`;
    case undefined:
      return base;
  }
}

import type { ColumnConversion, ColumnSource } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import { constantSql } from './constant-sql.js';
import { engineType } from './engine-type.js';

/** SQL that makes one table column from a file's physical columns. */
export function sourceSql(source: ColumnSource): string {
  return source.kind === 'constant'
    ? constantSql(source.value, source.type)
    : valueSql(source, quoteIdentifier(source.name), 0);
}

/** `base` is the SQL of the physical value that `source` describes; `depth` keeps lambda variables apart. */
function valueSql(source: ColumnSource, base: string, depth: number): string {
  switch (source.kind) {
    case 'constant':
      return constantSql(source.value, source.type);
    case 'column':
      return source.isExactType
        ? base
        : `CAST(${convertedSql(base, source.conversion)} AS ${engineType(source.type)})`;
    case 'struct': {
      const fields = source.fields.map((field) => {
        const child =
          field.source.kind === 'constant'
            ? constantSql(field.source.value, field.source.type)
            : valueSql(field.source, `struct_extract(${base}, ${quoteString(field.source.name)})`, depth);
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

/** What CommandGetXdbcTypeInfo answers: the SQL types, with the codes of ODBC and JDBC (FlightSql.proto, XdbcDataType). */
import { Bool, Field, Int32, List, type Schema, Utf8 } from 'apache-arrow';
import { schemaOf } from '../arrow/table-message.js';

const text = (name: string, nullable = true) => ({ name, type: new Utf8(), nullable });
const integer = (name: string, nullable = true) => ({ name, type: new Int32(), nullable });
const flag = (name: string, nullable = true) => ({ name, type: new Bool(), nullable });

export const typeInfoSchema: Schema = schemaOf([
  text('type_name', false),
  integer('data_type', false),
  integer('column_size'),
  text('literal_prefix'),
  text('literal_suffix'),
  { name: 'create_params', type: new List(new Field('item', new Utf8(), false)), nullable: true },
  integer('nullable', false),
  flag('case_sensitive', false),
  integer('searchable', false),
  flag('unsigned_attribute'),
  flag('fixed_prec_scale', false),
  flag('auto_increment'),
  text('local_type_name'),
  integer('minimum_scale'),
  integer('maximum_scale'),
  integer('sql_data_type', false),
  integer('datetime_subcode'),
  integer('num_prec_radix'),
  integer('interval_precision'),
]);

interface SqlType {
  readonly name: string;
  readonly dataType: number;
  /** Digits, characters or bytes, as ODBC counts them. */
  readonly size: number;
  readonly prefix?: string;
  readonly parameters?: readonly string[];
  readonly maximumScale?: number;
  readonly radix?: 2 | 10;
  /** ODBC's verbose code of dates and times (9) has a subcode. */
  readonly datetimeSubcode?: number;
}

const maxLength = 2 ** 31 - 1;

const sqlTypes: readonly SqlType[] = [
  { name: 'BOOLEAN', dataType: -7, size: 1 },
  { name: 'TINYINT', dataType: -6, size: 3, radix: 10 },
  { name: 'BIGINT', dataType: -5, size: 19, radix: 10 },
  { name: 'BLOB', dataType: -3, size: maxLength, prefix: "'" },
  { name: 'DECIMAL', dataType: 3, size: 38, parameters: ['precision', 'scale'], maximumScale: 38, radix: 10 },
  { name: 'INTEGER', dataType: 4, size: 10, radix: 10 },
  { name: 'SMALLINT', dataType: 5, size: 5, radix: 10 },
  { name: 'FLOAT', dataType: 7, size: 24, radix: 2 },
  { name: 'DOUBLE', dataType: 8, size: 53, radix: 2 },
  { name: 'VARCHAR', dataType: 12, size: maxLength, prefix: "'" },
  { name: 'DATE', dataType: 91, size: 10, prefix: "DATE '", datetimeSubcode: 1 },
  { name: 'TIME', dataType: 92, size: 15, prefix: "TIME '", maximumScale: 6, datetimeSubcode: 2 },
  { name: 'TIMESTAMP', dataType: 93, size: 26, prefix: "TIMESTAMP '", maximumScale: 6, datetimeSubcode: 3 },
  {
    name: 'TIMESTAMP WITH TIME ZONE',
    dataType: 93,
    size: 32,
    prefix: "TIMESTAMPTZ '",
    maximumScale: 6,
    datetimeSubcode: 3,
  },
];

const nullableCode = 1;
/** Any comparison; for text LIKE as well. */
const searchableCode = 3;
const verboseDatetime = 9;

/** Rows in the order of the data types, as the format asks; of one type only where a code is given. */
export function typeInfoRows(dataType: number | undefined): readonly (readonly unknown[])[] {
  return sqlTypes
    .filter((type) => dataType === undefined || type.dataType === dataType)
    .map((type) => [
      type.name,
      type.dataType,
      type.size,
      type.prefix ?? null,
      type.prefix === undefined ? null : "'",
      type.parameters ?? null,
      nullableCode,
      type.name === 'VARCHAR',
      searchableCode,
      type.radix === undefined ? null : false,
      false,
      type.radix === undefined ? null : false,
      type.name,
      type.radix === 10 ? 0 : null,
      type.maximumScale ?? (type.radix === 10 ? 0 : null),
      type.datetimeSubcode === undefined ? type.dataType : verboseDatetime,
      type.datetimeSubcode ?? null,
      type.radix ?? null,
      null,
    ]);
}

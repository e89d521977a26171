/** Writes tables by Trino's own statements, in formats 1 and 2: it has no third one. Its answers are the rows that are right. */

/** A statement's rows, or its error. */
export type TrinoQuery = (sql: string) => Promise<readonly (readonly unknown[])[]>;

export interface TrinoTable {
  readonly table: string;
  /** Makes one text of a row, in DuckDB's dialect. */
  readonly sql: string;
  /** Sorted. */
  readonly rows: readonly string[];
}

const schema = 'by_trino';
/** Its statements wait for storage and for each other. */
const tablesAtOnce = 3;

export async function writeByTrino(query: TrinoQuery): Promise<readonly TrinoTable[]> {
  await query(`CREATE SCHEMA ${schema}`);
  await query(`CREATE TABLE ${source} WITH (format_version = 2) AS ${everyRow}`);
  const writers = [
    evolve,
    ...partitioned.map((each) => writePartitioned(each)),
    evolveSpecs,
    writeTypes('v2_types', "parquet_bloom_filter_columns = ARRAY['name']"),
    writeTypes('v2_types_avro', "format = 'AVRO'"),
    writeOrc,
  ];
  const written: TrinoTable[] = [await answered(query, 'v2_none', firstColumns)];
  const lane = async () => {
    for (let next = writers.shift(); next !== undefined; next = writers.shift())
      written.push(...(await next(query)));
  };
  await Promise.all(Array.from({ length: tablesAtOnce }, lane));
  return written;
}

/** What makes text of a value, in Trino's dialect and in DuckDB's. */
type Text = readonly [trino: (column: string) => string, duckdb: (column: string) => string];

const cast = (column: string) => `CAST(${column} AS VARCHAR)`;
const withoutZeros = (text: string) => `regexp_replace(${text}, '\\.?0+$', '')`;
const plain: Text = [cast, cast];
const moment: Text = [(column) => withoutZeros(cast(column)), cast];
const instant: Text = [
  (column) => `${withoutZeros(cast(`CAST(${column} AT TIME ZONE 'UTC' AS timestamp(6))`))} || '+00'`,
  cast,
];
const tenths: Text = [
  (column) =>
    `IF(is_finite(${column}), CAST(CAST(${column} AS decimal(9, 1)) AS varchar), replace(lower(${cast(column)}), 'infinity', 'inf'))`,
  cast,
];
const bytes: Text = [(column) => `to_hex(${column})`, (column) => `hex(${column})`];
const list: Text = [(column) => `'[' || array_join(${column}, ', ', 'NULL') || ']'`, cast];
const map: Text = [
  (column) =>
    `'{' || array_join(transform(map_entries(${column}), e -> e[1] || '=' || coalesce(CAST(e[2] AS varchar), 'NULL')), ', ') || '}'`,
  cast,
];

type Columns = Readonly<Record<string, Text>>;

const firstColumns: Columns = {
  ...{ id: plain, k: plain, name: plain, amount: plain, day: plain },
  ...{ ts: moment, tz: instant, code: plain, 's.a': plain, 's.b': plain, r: tenths },
};

/** The others are made of its rows: a statement without expressions is planned in less time. */
const source = `${schema}.v2_none`;
const rowsFrom = (first: number, end: number) =>
  `SELECT * FROM ${source} WHERE id >= ${first} AND id < ${end}`;
const everyRow = `SELECT i AS id,
  CAST(nullif(i % 9, 0) AS integer) AS k,
  IF(i % 11 > 0, 'n' || CAST(i % 3 AS varchar) || 'ü' || CAST(i AS varchar)) AS name,
  CAST((i * 101 - 300) / DECIMAL '100.00' AS decimal(9, 2)) AS amount,
  DATE '2023-11-15' + i * INTERVAL '3' DAY AS day,
  CAST(TIMESTAMP '2024-01-01 00:00:00.500000' + i % 4 * INTERVAL '13' HOUR AS timestamp(6)) AS ts,
  CAST(TIMESTAMP '1970-01-01 23:30:00 UTC' - i % 3 * INTERVAL '24' HOUR AS timestamp(6) with time zone) AS tz,
  IF(i % 6 > 0, 'c' || CAST(i % 3 AS varchar)) AS code,
  IF(i % 13 > 0, CAST(ROW(i % 5, IF(i % 8 > 0, 'b' || CAST(i AS varchar))) AS ROW(a integer, b varchar))) AS s,
  CAST(i + 0.5 AS real) AS r
  FROM TABLE(sequence(0, 59)) AS numbers(i)`;

interface Partitioned {
  readonly name: string;
  readonly partitioning: string;
  readonly format?: string;
}

const partitioned: readonly Partitioned[] = [
  { name: 'v1_identity_year', partitioning: "'code', 'year(day)'" },
  { name: 'v2_truncate_month', partitioning: "'truncate(name, 2)', 'month(day)'" },
  { name: 'v2_day_hour', partitioning: "'day(tz)', 'hour(ts)'" },
  { name: 'v2_avro', partitioning: "'code'", format: 'AVRO' },
];

function writePartitioned({ name, partitioning, format = 'PARQUET' }: Partitioned) {
  return async (query: TrinoQuery): Promise<readonly TrinoTable[]> => {
    const version = Number(name[1]);
    const target = `${schema}.${name}`;
    await query(`CREATE TABLE ${target} WITH (format = '${format}', format_version = ${version}, partitioning = ARRAY[${partitioning}])
      AS ${rowsFrom(0, 40)}`);
    // In format 1 it deletes whole files only.
    if (version === 1) await query(`DELETE FROM ${target} WHERE code = 'c1' AND year(day) = 2024`);
    else await query(mergeInto(target));
    return [await answered(query, name, firstColumns)];
  };
}

function mergeInto(target: string): string {
  return `MERGE INTO ${target} t USING (${rowsFrom(30, 50)}) s ON t.id = s.id
    WHEN MATCHED AND s.id % 10 = 3 THEN DELETE
    WHEN MATCHED AND s.id % 10 = 5 THEN UPDATE SET name = 'merged', code = 'moved', ts = NULL
    WHEN NOT MATCHED THEN INSERT (id, k, name, amount, day, ts, tz, code, s, r)
      VALUES (s.id, s.k, s.name, s.amount, s.day, s.ts, s.tz, s.code, s.s, s.r)`;
}

/** Changes the schema in every way that it can, and rows before and after that; then a view is made of what is there. */
async function evolve(query: TrinoQuery): Promise<readonly TrinoTable[]> {
  const target = `${schema}.v2_bucket`;
  await query(
    `CREATE TABLE ${target} WITH (format_version = 2, partitioning = ARRAY['bucket(id, 3)']) AS ${rowsFrom(0, 40)}`,
  );
  await query(mergeInto(target));
  for (const change of [
    'RENAME COLUMN name TO "Title of it"',
    'ADD COLUMN region varchar FIRST',
    'ALTER COLUMN k SET DATA TYPE bigint',
    'ALTER COLUMN amount SET DATA TYPE decimal(38, 2)',
    'ALTER COLUMN r SET DATA TYPE double',
    'DROP COLUMN day',
    'ALTER COLUMN s.a SET DATA TYPE bigint',
    'RENAME COLUMN s.b TO c',
    'ADD COLUMN s.e integer',
  ])
    await query(`ALTER TABLE ${target} ${change}`);
  await query(`INSERT INTO ${target} (region, id, k, "Title of it", amount, ts, r, s)
    SELECT 'EU', id, k, name, amount, ts, r, CAST(ROW(s.a, s.b, k) AS ROW(a bigint, c varchar, e integer)) FROM (${rowsFrom(40, 60)})`);
  await query(`UPDATE ${target} SET "Title of it" = region, s = NULL WHERE id % 10 = 4`);
  await query(`DELETE FROM ${target} WHERE id % 10 = 7 OR s.e = 2`);
  await query(
    `CREATE VIEW ${schema}.late_view AS SELECT id, coalesce("Title of it", '?') AS title FROM ${target} WHERE id > 20`,
  );
  return [
    await answered(query, 'v2_bucket', {
      ...{ region: plain, id: plain, k: plain, '"Title of it"': plain, amount: plain, ts: moment, r: tenths },
      ...{ tz: instant, code: plain, 's.a': plain, 's.c': plain, 's.e': plain },
    }),
    await answered(query, 'late_view', { id: plain, title: plain }),
  ];
}

/** Rows and deletes of each spec that a table had. */
async function evolveSpecs(query: TrinoQuery): Promise<readonly TrinoTable[]> {
  const target = `${schema}.v2_specs`;
  await query(`CREATE TABLE ${target} WITH (format_version = 2) AS ${rowsFrom(0, 20)}`);
  for (const [step, fields] of ["'bucket(id, 2)'", "'day(ts)', 'truncate(name, 1)'"].entries()) {
    await query(`DELETE FROM ${target} WHERE id % 10 = ${step}`);
    await query(`ALTER TABLE ${target} SET PROPERTIES partitioning = ARRAY[${fields}]`);
    await query(`INSERT INTO ${target} ${rowsFrom(20 + step * 20, 40 + step * 20)}`);
  }
  await query(`DELETE FROM ${target} WHERE k = 3`);
  return [await answered(query, 'v2_specs', firstColumns)];
}

/** Each type that it has, in two formats. */
function writeTypes(name: string, properties: string) {
  return async (query: TrinoQuery): Promise<readonly TrinoTable[]> => {
    const target = `${schema}.${name}`;
    await query(`CREATE TABLE ${target} (id bigint NOT NULL, flag boolean, k integer, r real, d double, wide decimal(38, 10), day date,
      t time(6), ts timestamp(6), tz timestamp(6) with time zone, name varchar, bin varbinary, u uuid, s ROW(a integer, l array(varchar)),
      list array(integer), m map(varchar, bigint)) WITH (format_version = 2, sorted_by = ARRAY['id'], ${properties})`);
    await query(`INSERT INTO ${target} SELECT i, i % 2 = 0, i, CAST(i + 0.5 AS real), IF(i = 5, -infinity(), IF(i = 6, nan(), i - 9.5E0)),
      CAST(DECIMAL '123456789012345678901234567.0000000001' * i AS decimal(38, 10)), DATE '0001-01-01' + i * INTERVAL '400' DAY,
      TIME '23:59:59.999990' + i * INTERVAL '1' HOUR, TIMESTAMP '1969-12-31 23:59:59.999999' - i * INTERVAL '1' SECOND,
      TIMESTAMP '2024-02-29 12:00:00.500000 Europe/Berlin' + i * INTERVAL '1' MINUTE, 'n' || CAST(i AS varchar), X'00ff',
      UUID '00000000-0000-0000-ffff-000000000001', ROW(i, ARRAY['x', NULL, CAST(i AS varchar)]), ARRAY[1, NULL, i],
      MAP(ARRAY['k', 'l'], ARRAY[i, NULL])
      FROM (SELECT CAST(i AS integer) AS i FROM TABLE(sequence(1, 9)) AS numbers(i))`);
    await query(`INSERT INTO ${target} (id) VALUES 90, 91`);
    await query(`DELETE FROM ${target} WHERE name = 'n7' OR id = 91`);
    const columns: Columns = {
      ...{ id: plain, flag: plain, k: plain, r: tenths, d: tenths, wide: plain, day: plain, t: moment },
      ...{
        ts: moment,
        tz: instant,
        name: plain,
        bin: bytes,
        u: plain,
        's.a': plain,
        's.l': list,
        list,
        m: map,
      },
    };
    return [await answered(query, name, columns)];
  };
}

/** From one format to another: the first rows are in Parquet. */
async function writeOrc(query: TrinoQuery): Promise<readonly TrinoTable[]> {
  const target = `${schema}.v2_orc`;
  await query(`CREATE TABLE ${target} WITH (format_version = 2) AS ${rowsFrom(0, 20)}`);
  await query(`ALTER TABLE ${target} SET PROPERTIES format = 'ORC'`);
  await query(`INSERT INTO ${target} ${rowsFrom(20, 40)}`);
  await query(`DELETE FROM ${target} WHERE id % 10 = 3`);
  return [await answered(query, 'v2_orc', firstColumns)];
}

async function answered(query: TrinoQuery, name: string, columns: Columns): Promise<TrinoTable> {
  const textOf = (dialect: 0 | 1) => {
    const parts = Object.entries(columns).map(
      ([column, text]) => `coalesce(${text[dialect](column)}, 'NULL')`,
    );
    return `concat_ws('|', ${parts.join(', ')})`;
  };
  const rows = await query(`SELECT ${textOf(0)} FROM ${schema}.${name}`);
  return { table: `${schema}.${name}`, sql: textOf(1), rows: rows.map(([text]) => String(text)).sort() };
}

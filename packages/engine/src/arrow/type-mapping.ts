/**
 * What each DuckDB type becomes in Arrow. `client` is what pyarrow, ADBC and JDBC understand; `lossless` is for our
 * own parts and comes back as the same DuckDB type.
 *
 * | DuckDB | client | lossless |
 * |---|---|---|
 * | BOOLEAN | bool | arrow.bool8 (int8) |
 * | TINYINT … BIGINT, UTINYINT … UBIGINT | int8 … int64, uint8 … uint64 | same |
 * | HUGEINT (also sum of integers) | decimal128(38, 0); of 39 digits the value is kept, the precision is exceeded | arrow.opaque hugeint (16 bytes) |
 * | UHUGEINT | utf8, decimal digits | arrow.opaque uhugeint (16 bytes) |
 * | BIGNUM | utf8, decimal digits | arrow.opaque bignum (binary) |
 * | FLOAT, DOUBLE | float32, float64 | same |
 * | DECIMAL(p, s) | decimal128(p, s) | same |
 * | VARCHAR, JSON | utf8 | utf8; JSON as arrow.json |
 * | BLOB | binary | binary |
 * | BIT | utf8 of 0 and 1 | arrow.opaque bit (binary) |
 * | UUID | utf8 | arrow.uuid (16 bytes) |
 * | DATE | date32 | same |
 * | TIME, TIME_NS | time64(us), time64(ns) | same |
 * | TIMETZ | utf8 with offset, `10:00:00+02` | arrow.opaque time_tz (8 bytes) |
 * | TIMESTAMP_S, _MS, TIMESTAMP, _NS | timestamp(s, ms, us, ns) | same |
 * | TIMESTAMPTZ | timestamp(us) with the session's zone | same |
 * | INTERVAL | interval month_day_nano | same |
 * | ENUM | dictionary of uint8, uint16 or uint32 to utf8 | same |
 * | LIST, MAP, STRUCT | list, map, struct | same |
 * | ARRAY(n) | fixed-size list | same |
 * | UNION | sparse union | same |
 * | GEOMETRY | binary with geoarrow.wkb | same |
 * | VARIANT | utf8, JSON | NOT_SUPPORTED: Arrow has no such type |
 * | NULL | int32, all null (the engine has no result column of the null type) | same |
 *
 * The types that DuckDB would hand to a client in its internal encoding (UHUGEINT, BIGNUM, BIT, TIMETZ), or not at all
 * (VARIANT), are cast to text by the engine itself, also inside nested types: the statement becomes a subquery of a
 * SELECT with the casts.
 */
import type { DuckDbFunctions } from '../capi/functions.js';
import { anyType, duckDbType, typeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';

export type ArrowMode = 'client' | 'lossless';

/** What the engine's own encodings become for a client. */
const clientTypes: ReadonlyMap<number, string> = new Map([
  [duckDbType.bit, 'VARCHAR'],
  [duckDbType.timeTz, 'VARCHAR'],
  [duckDbType.uhugeint, 'VARCHAR'],
  [duckDbType.bignum, 'VARCHAR'],
  [duckDbType.variant, 'JSON'],
]);

/** The SQL type to cast a column to so that the mode can carry it, or undefined when it is carried as it is. */
export function transferType(functions: DuckDbFunctions, type: Address, mode: ArrowMode): string | undefined {
  if (mode === 'lossless' || !anyType(functions, type, (id) => clientTypes.has(id))) return undefined;
  return typeText(functions, type, (id) => clientTypes.get(id));
}

/** Whether a VARIANT is part of the type: it has no Arrow form. */
export function containsVariant(functions: DuckDbFunctions, type: Address): boolean {
  return anyType(functions, type, (id) => id === duckDbType.variant);
}

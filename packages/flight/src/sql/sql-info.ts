/**
 * What GetSqlInfo answers: every id of the format's SqlInfo list, because JDBC throws NullPointerException on a
 * missing one. The types are those that the drivers cast to. Anything not built yet is answered as absent.
 */
import type { SqlInfoFacts } from '../backend.js';

/** One value with the child of the format's dense union that carries it. */
export type SqlInfoValue =
  | { readonly kind: 'string'; readonly value: string | null }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'bigint'; readonly value: bigint }
  | { readonly kind: 'int32'; readonly value: number }
  | { readonly kind: 'string-list'; readonly value: readonly string[] }
  | { readonly kind: 'int32-lists'; readonly value: ReadonlyMap<number, readonly number[]> };

const text = (value: string | null): SqlInfoValue => ({ kind: 'string', value });
const flag = (value: boolean): SqlInfoValue => ({ kind: 'bool', value });
const int32 = (value: number): SqlInfoValue => ({ kind: 'int32', value });
/** The union has no ordinal: its 32 bits are a mask. ODBC and JDBC read the ordinals that they know as 64 bits. */
const ordinal = (value: number): SqlInfoValue => ({ kind: 'bigint', value: BigInt(value) });
const list = (value: readonly string[]): SqlInfoValue => ({ kind: 'string-list', value });

const CASE_INSENSITIVE = 1;
const NULLS_AT_END = 3;
const NO_TRANSACTIONS = 0;

/** A bit mask of ordinals. */
function bits(...ordinals: readonly number[]): SqlInfoValue {
  return int32(ordinals.reduce((mask, ordinal) => mask | (1 << ordinal), 0));
}

/** SqlSupportsConvert ordinals by the groups between which the engine casts. */
const convert = {
  numbers: [0, 5, 6, 7, 12, 13, 14, 17],
  boolean: [2],
  texts: [3, 11, 19],
  binaries: [1, 10, 18],
  date: [4],
  time: [15],
  timestamp: [16],
  intervals: [8, 9],
} as const;

function conversions(): ReadonlyMap<number, readonly number[]> {
  const { numbers, boolean, texts, binaries, date, time, timestamp, intervals } = convert;
  const everything = Object.values(convert).flat();
  const targets: readonly (readonly [readonly number[], readonly number[]])[] = [
    [numbers, [...numbers, ...boolean, ...texts]],
    [boolean, [...boolean, ...numbers, ...texts]],
    [texts, everything],
    [binaries, [...binaries, ...texts]],
    [date, [...date, ...timestamp, ...texts]],
    [time, [...time, ...texts]],
    [timestamp, [...timestamp, ...date, ...time, ...texts]],
    [intervals, [...intervals, ...texts]],
  ];
  return new Map(
    targets
      .flatMap(([sources, to]) => sources.map((from) => [from, [...to].sort((a, b) => a - b)] as const))
      .sort(([a], [b]) => a - b),
  );
}

/** Limits that the service does not have, or does not know: 0 as the format says. */
const unlimited: readonly number[] = [
  541, 542, 543, 544, 545, 546, 547, 548, 549, 550, 551, 552, 553, 554, 555, 557, 558, 559, 560, 561,
];

/** Values by SqlInfo id, ascending. */
export function sqlInfoValues(facts: SqlInfoFacts): ReadonlyMap<number, SqlInfoValue> {
  const values: (readonly [number, SqlInfoValue])[] = [
    ...serverValues(facts),
    ...syntaxValues(facts),
    ...transactionAndResultValues(),
    ...unlimited.map((id) => [id, { kind: 'bigint', value: 0n }] as const),
  ];
  return new Map(values.sort(([a], [b]) => a - b));
}

function serverValues(facts: SqlInfoFacts): (readonly [number, SqlInfoValue])[] {
  return [
    [0, text(facts.serverName)],
    [1, text(facts.serverVersion)],
    [2, text(facts.arrowVersion)],
    [3, flag(false)], // read only
    [4, flag(true)], // SQL
    [5, flag(false)], // Substrait, and its versions
    [6, text(null)],
    [7, text(null)],
    [8, int32(NO_TRANSACTIONS)],
    [9, flag(true)], // the CancelQuery action
    [10, flag(true)], // bulk ingestion, and in a transaction
    [11, flag(false)],
    [100, int32(facts.preparedStatementTtlMs ?? 0)],
    [101, int32(0)],
  ];
}

function syntaxValues(facts: SqlInfoFacts): (readonly [number, SqlInfoValue])[] {
  return [
    [500, flag(false)], // DDL of catalogs, schemas, tables
    [501, flag(true)],
    [502, flag(true)],
    [503, ordinal(CASE_INSENSITIVE)],
    [504, text('"')],
    [505, ordinal(CASE_INSENSITIVE)],
    [506, flag(false)], // a listed table may still be refused to this user
    [507, ordinal(NULLS_AT_END)],
    [508, list(facts.keywords)],
    [509, list(facts.numericFunctions)],
    [510, list(facts.stringFunctions)],
    [511, list(facts.systemFunctions)],
    [512, list(facts.datetimeFunctions)],
    [513, text('\\')],
    [514, text('')],
    [515, flag(true)], // column aliases
    [516, flag(true)],
    [517, { kind: 'int32-lists', value: conversions() }],
    [518, flag(true)], // table aliases, which may equal table names
    [519, flag(false)],
    [520, flag(true)], // ORDER BY expressions, and columns that are not selected
    [521, flag(true)],
    [522, bits(0, 1)],
    [523, flag(true)], // LIKE … ESCAPE, and columns that are NOT NULL
    [524, flag(true)],
    [525, bits(0, 1)], // minimum and core grammar
    [526, bits(0)], // entry level
    [527, flag(false)],
    [528, bits(1, 2)], // limited and full outer joins; the drivers read bits here, not an ordinal
    [529, text('schema')],
    [530, text('procedure')],
    [531, text('catalog')],
    [532, flag(true)],
    [533, bits()],
    [534, bits()],
    [535, bits()],
    [536, flag(false)], // SELECT FOR UPDATE
    [537, flag(false)], // stored procedures
    [538, bits(0, 1, 2, 3)],
    [539, flag(true)],
    [540, bits(0, 1)],
    [556, flag(false)],
  ];
}

function transactionAndResultValues(): (readonly [number, SqlInfoValue])[] {
  return [
    [562, ordinal(NO_TRANSACTIONS)],
    [563, flag(false)],
    [564, bits(NO_TRANSACTIONS)],
    [565, flag(false)],
    [566, flag(false)],
    [567, bits(1)], // results are forward only and read only
    [568, bits()],
    [569, bits(1)],
    [570, bits()],
    [571, bits()],
    [572, flag(true)], // batches of updates; no savepoints and the like
    [573, flag(false)],
    [574, flag(false)],
    [575, flag(false)],
    [576, flag(false)],
  ];
}

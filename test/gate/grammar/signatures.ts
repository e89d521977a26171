/** The functions of the pinned engine, as it lists them itself, by what they take and answer. */
import { functionPolicy } from '@svc/sql';
import type { DuckDbParser } from '../../sql/duckdb-parser.js';

/** Types as far as the generator tells them apart. */
export type Kind =
  | 'integer'
  | 'number'
  | 'text'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'interval'
  | 'list'
  | 'struct'
  | 'map'
  | 'json'
  | 'lambda'
  | 'any';

export interface Signature {
  readonly name: string;
  readonly takes: readonly Kind[];
  /** More of these may follow. */
  readonly variadic: Kind | undefined;
  /** Of table functions. */
  readonly named: readonly string[];
  readonly answers: Kind;
  readonly isAggregate: boolean;
  readonly isAllowed: boolean;
}

export interface Signatures {
  readonly scalars: readonly Signature[];
  readonly allowedScalars: ReadonlyMap<Kind, readonly Signature[]>;
  readonly allowedAggregates: readonly Signature[];
  readonly tables: readonly Signature[];
}

interface ListedFunction {
  readonly name: string;
  readonly type: string;
  readonly types: readonly (string | null)[] | null;
  readonly names: readonly string[] | null;
  readonly varargs: string | null;
  readonly answers: string | null;
}

const listing = `SELECT to_json(list({name: function_name, type: function_type, types: parameter_types, names: parameters,
  varargs: varargs, answers: return_type} ORDER BY function_name, function_type, parameter_types::VARCHAR, return_type))::VARCHAR
  FROM duckdb_functions()`;

export function readSignatures(parser: DuckDbParser): Signatures {
  const listed: readonly ListedFunction[] = JSON.parse(parser.query(listing));
  const ofTypes = (...types: string[]) =>
    distinct(listed.filter(({ type }) => types.includes(type)).map(signatureOf));
  const scalars = ofTypes('scalar', 'macro').filter(({ name }) => /^\w+$/.test(name));
  const aggregates = ofTypes('aggregate');
  const allowed = scalars.filter(({ isAllowed }) => isAllowed);
  const kinds = new Set(allowed.map(({ answers }) => answers));
  return {
    scalars: [...scalars, ...aggregates],
    allowedScalars: new Map(
      [...kinds].map((kind) => [kind, allowed.filter(({ answers }) => answers === kind)]),
    ),
    allowedAggregates: aggregates.filter(({ isAllowed }) => isAllowed),
    tables: ofTypes('table', 'table_macro', 'pragma'),
  };
}

function signatureOf({ name, type, types, names, varargs, answers }: ListedFunction): Signature {
  const isTable = type !== 'scalar' && type !== 'macro' && type !== 'aggregate';
  const isNamed = (index: number) => isTable && !/^col\d+$/.test(names?.[index] ?? 'col0');
  const takes = (types ?? names ?? []).map((each) => kindOf(each)).filter((_, index) => !isNamed(index));
  return {
    name,
    takes,
    variadic: varargs === null ? undefined : kindOf(varargs),
    named: (names ?? []).filter((_, index) => isNamed(index)),
    answers: kindOf(answers),
    isAggregate: type === 'aggregate',
    isAllowed: functionPolicy(name, isTable ? 'table' : 'scalar') === 'allowed',
  };
}

function distinct(signatures: readonly Signature[]): readonly Signature[] {
  return [
    ...new Map(
      signatures.map((each) => [JSON.stringify([each.name, each.takes, each.answers]), each]),
    ).values(),
  ];
}

const kindsByType: readonly (readonly [RegExp, Kind])[] = [
  [/\]$/, 'list'],
  [/^LAMBDA/, 'lambda'],
  [/^STRUCT/, 'struct'],
  [/^MAP/, 'map'],
  [/^JSON/, 'json'],
  [/INT(EGER)?$|^BIT$/, 'integer'],
  [/^(DOUBLE|FLOAT|DECIMAL)/, 'number'],
  [/^VARCHAR/, 'text'],
  [/^BOOLEAN/, 'boolean'],
  [/^DATE/, 'date'],
  [/^TIME/, 'timestamp'],
  [/^INTERVAL/, 'interval'],
];

function kindOf(type: string | null): Kind {
  return kindsByType.find(([pattern]) => pattern.test(type ?? ''))?.[1] ?? 'any';
}

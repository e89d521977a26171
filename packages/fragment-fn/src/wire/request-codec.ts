/** Fragment requests, but for what exists in one process only: rows as they come, and files that a statement names. */
import { QueryError } from '@svc/base';
import type { Literal, ScanFilter } from '@svc/sql';
import type {
  FragmentInput,
  FragmentJoinKeys,
  FragmentKey,
  FragmentLane,
  FragmentLimits,
  FragmentRows,
  FragmentScan,
  FragmentTable,
  FragmentView,
  InputPart,
  InputRows,
  WholeColumns,
} from '../request.js';
import type { FragmentSplit, SplitRequest } from '../splits/split-task.js';
import type { EngineColumn } from '../views/view-sql.js';
import {
  bytes,
  type Codec,
  entries,
  lazy,
  list,
  maybe,
  oneOf,
  optional,
  record,
  required,
  text,
  uint,
  uintList,
  union,
} from './codec.js';
import { plain } from './plain-codec.js';
import { nestedField, tableScan } from './scan-codec.js';

const literalValue: Codec<Literal['value']> = {
  write: (out, value) => plain.write(out, value),
  read(input) {
    const value = plain.read(input);
    const isLiteral =
      ['boolean', 'bigint', 'number', 'string'].includes(typeof value) || value instanceof Uint8Array;
    return isLiteral ? (value as Literal['value']) : input.fail('is no value of a filter');
  },
};

const literal = record<Literal>({ type: required(1, text), value: required(2, literalValue) });
const column = required(1, list(text));
const filters = list(lazy((): Codec<ScanFilter> => scanFilter));

const scanFilter = union<ScanFilter>({
  compare: [
    1,
    {
      column,
      operator: required(2, oneOf({ '=': 1, '<>': 2, '<': 3, '<=': 4, '>': 5, '>=': 6 })),
      literal: required(3, literal),
    },
  ],
  in: [2, { column, literals: required(2, list(literal)) }],
  'starts-with': [3, { column, prefix: required(2, text) }],
  'is-null': [4, { column }],
  'is-not-null': [5, { column }],
  and: [6, { filters: required(1, filters) }],
  or: [7, { filters: required(1, filters) }],
});

const name = { catalog: required(1, text), schema: required(2, text), table: required(3, text) };

const inputPart = record<InputPart>({
  url: required(1, text),
  bytes: required(2, uint),
  sha256: required(3, text),
});

type InputThatTravels = Exclude<InputRows, { readonly kind: 'stream' }>;

const inputThatTravels = union<InputThatTravels>({
  bytes: [1, { stream: required(1, bytes) }],
  // 2 was parts by place, which nobody sends.
  parts: [3, { parts: required(1, list(inputPart)) }],
});

const inputRows: Codec<InputRows> = {
  write(out, value) {
    if (value.kind === 'stream')
      throw new QueryError('NOT_SUPPORTED', 'Rows that are still being made do not travel with a fragment.');
    inputThatTravels.write(out, value);
  },
  read: (input) => inputThatTravels.read(input),
};

const engineColumn = record<EngineColumn>({ name: required(1, text), type: required(2, text) });

const tableThatTravels = union<FragmentScan | FragmentRows | FragmentInput>({
  scan: [1, { ...name, scan: required(4, tableScan), filters: optional(5, filters) }],
  rows: [2, { ...name, columns: required(4, list(nestedField)), rows: required(5, bytes) }],
  input: [3, { ...name, columns: required(4, list(engineColumn)), rows: required(5, inputRows) }],
});

const table: Codec<FragmentTable> = {
  write(out, value) {
    if (value.kind === 'files')
      throw new QueryError(
        'NOT_SUPPORTED',
        'Files that a statement names are read where the statement is run.',
      );
    tableThatTravels.write(out, value);
  },
  read: (input) => tableThatTravels.read(input),
};

const key = record<FragmentKey>({
  table: required(1, uint),
  name: required(2, text),
  type: required(3, text),
});

const joinKeys = record<FragmentJoinKeys>({
  target: required(1, key),
  source: required(2, key),
  by: maybe(3, oneOf({ ranges: 1, bloom: 2 })),
});

const view = record<FragmentView>({
  ...name,
  columns: required(4, list(text)),
  sql: required(5, text),
});

const limits = record<FragmentLimits>({
  memoryBytes: required(1, uint),
  resultBytes: required(2, uint),
  timeoutMs: required(3, uint),
});

const wholeColumns = record<WholeColumns>({ columns: required(1, uintList), schema: required(2, bytes) });
const split = record<FragmentSplit>({ id: required(1, uint), scan: required(2, tableScan) });

export const splitRequest = record<SplitRequest>({
  protocolVersion: required(1, uint),
  queryId: required(2, text),
  fragmentId: required(3, uint),
  lane: required(4, oneOf<FragmentLane>({ small: 1, query: 2 })),
  owner: required(5, text),
  sql: required(6, text),
  tables: required(7, list(table)),
  joinKeys: optional(8, list(joinKeys)),
  views: required(9, list(view)),
  defaultCatalog: required(10, text),
  defaultSchema: maybe(11, text),
  settings: required(12, entries(text)),
  setup: required(13, list(text)),
  parameters: optional(14, bytes),
  arrow: required(15, oneOf<SplitRequest['arrow']>({ lossless: 1, client: 2 })),
  wholeColumns: optional(16, wholeColumns),
  limits: required(17, limits),
  traceparent: optional(18, text),
  splitTable: optional(19, uint),
  splits: required(20, list(split)),
});

/** Scans of tables, as they are planned. */
import type {
  AppliedDeletes,
  ColumnConversion,
  ColumnSource,
  CountedRows,
  DeletedRows,
  DeleteSet,
  FileGroup,
  FileOrigin,
  FileScan,
  IcebergType,
  NestedField,
  ScanCounts,
  TableScan,
} from '@svc/lake';
import {
  bigint,
  type Codec,
  flag,
  integer,
  isTrue,
  lazy,
  list,
  maybe,
  nullable,
  oneOf,
  optional,
  record,
  required,
  text,
  uint,
  uintList,
  union,
} from './codec.js';
import { json, plain } from './plain-codec.js';

const type: Codec<IcebergType> = lazy(() => icebergType);
const source: Codec<ColumnSource> = lazy(() => columnSource);

export const nestedField: Codec<NestedField> = record<NestedField>({
  id: required(1, integer),
  name: required(2, text),
  required: required(3, flag),
  type: required(4, type),
  doc: optional(5, text),
  initialDefault: optional(6, json),
  writeDefault: optional(7, json),
});

const icebergType = union<IcebergType>({
  boolean: [1, {}],
  int: [2, {}],
  long: [3, {}],
  float: [4, {}],
  double: [5, {}],
  date: [6, {}],
  time: [7, {}],
  timestamp: [8, {}],
  timestamptz: [9, {}],
  timestamp_ns: [10, {}],
  timestamptz_ns: [11, {}],
  string: [12, {}],
  uuid: [13, {}],
  binary: [14, {}],
  unknown: [15, {}],
  decimal: [16, { precision: required(1, uint), scale: required(2, uint) }],
  fixed: [17, { length: required(1, uint) }],
  unsupported: [18, { text: required(1, text) }],
  struct: [19, { fields: required(1, list(nestedField)) }],
  list: [
    20,
    { elementId: required(1, integer), elementRequired: required(2, flag), element: required(3, type) },
  ],
  map: [
    21,
    {
      keyId: required(1, integer),
      key: required(2, type),
      valueId: required(3, integer),
      valueRequired: required(4, flag),
      value: required(5, type),
    },
  ],
});

const conversion = oneOf<ColumnConversion>({ 'decode-utf8': 1, 'at-utc': 2 });
const inherited = { stored: maybe(1, source), type: required(2, type) };

const columnSource = union<ColumnSource>({
  column: [
    1,
    {
      name: required(1, text),
      isExactType: required(2, flag),
      conversion: optional(3, conversion),
      type: required(4, type),
    },
  ],
  struct: [
    2,
    {
      name: required(1, text),
      fields: required(
        2,
        list(
          record<{ readonly name: string; readonly source: ColumnSource }>({
            name: required(1, text),
            source: required(2, source),
          }),
        ),
      ),
      type: required(3, type),
    },
  ],
  list: [3, { name: required(1, text), element: required(2, source), type: required(3, type) }],
  map: [
    4,
    {
      name: required(1, text),
      key: required(2, source),
      value: required(3, source),
      type: required(4, type),
    },
  ],
  'row-id': [5, inherited],
  'sequence-number': [6, inherited],
  constant: [7, { value: maybe(1, plain), type: required(2, type) }],
});

const sources = list(columnSource);

const deletedRows = record<DeletedRows>({
  rowCount: required(1, uint),
  bitmap: required(
    2,
    union<DeletedRows['bitmap']>({
      inline: [1, { base64: required(1, text) }],
      stored: [2, { location: required(1, text), start: required(2, uint), end: required(3, uint) }],
    }),
  ),
});

const origin = record<FileOrigin>({
  sequenceNumber: required(1, bigint),
  partition: required(2, integer),
  firstRowId: required(3, nullable(bigint)),
});

const file = record<FileScan>({
  location: required(1, text),
  sizeBytes: required(2, uint),
  recordCount: required(3, uint),
  version: required(4, text),
  avroRows: optional(5, uint),
  rowGroups: maybe(6, uintList),
  isPart: optional(7, isTrue),
  columnNames: required(8, list(text)),
  selectedBytes: required(9, uint),
  deletedRows: optional(10, deletedRows),
  origin: optional(11, origin),
});

const group = record<FileGroup>({
  sources: required(1, sources),
  files: required(2, list(file)),
  deletes: optional(
    3,
    list(record<AppliedDeletes>({ set: required(1, uint), sources: required(2, sources) })),
  ),
});

const deleteSet = record<DeleteSet>({
  kind: required(1, oneOf<DeleteSet['kind']>({ positions: 1, equality: 2 })),
  isScoped: required(2, flag),
  keys: required(3, list(nestedField)),
  groups: required(4, list(group)),
});

const counted = record<CountedRows>({
  rowCount: required(1, uint),
  low: required(2, sources),
  high: required(3, sources),
});

const counts = record<ScanCounts>({
  manifestsTotal: required(1, uint),
  manifestsRead: required(2, uint),
  filesTotal: required(3, uint),
  filesPlanned: required(4, uint),
  filesPruned: required(5, uint),
  rowGroupsTotal: required(6, uint),
  rowGroupsPlanned: required(7, uint),
  rowGroupsPrunedByStatistics: required(8, uint),
  rowGroupsPrunedByBloom: required(9, uint),
  deleteFilesPlanned: optional(10, uint),
  bytesTotal: required(11, uint),
  bytesPlanned: required(12, uint),
  rowsPlanned: required(13, uint),
});

export const tableScan = record<TableScan>({
  tableName: required(1, text),
  tableUuid: required(2, text),
  snapshotId: maybe(3, bigint),
  columns: required(4, list(nestedField)),
  groups: required(5, list(group)),
  counted: optional(6, counted),
  deletes: optional(7, list(deleteSet)),
  counts: required(8, counts),
});

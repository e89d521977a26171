import {
  type FileScan,
  type JsonValue,
  parseJson,
  type ScanCounts,
  type StoreGrant,
  type TableScan,
} from '@svc/lake';
import { fragmentProtocolVersion } from '../request.js';
import type { SplitRequest } from '../splits/split-task.js';
import type { RemoteTask } from '../wire/task-codec.js';

export const noCounts: ScanCounts = {
  manifestsTotal: 0,
  manifestsRead: 0,
  filesTotal: 0,
  filesPlanned: 0,
  filesPruned: 0,
  rowGroupsTotal: 0,
  rowGroupsPlanned: 0,
  rowGroupsPrunedByStatistics: 0,
  rowGroupsPrunedByBloom: 0,
  bytesTotal: 0,
  bytesPlanned: 0,
  rowsPlanned: 0,
};

export function plainRequest(request: Partial<SplitRequest> = {}): SplitRequest {
  return {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'q',
    fragmentId: 0,
    lane: 'query',
    owner: 'ada 1',
    sql: 'SELECT 1 AS one',
    tables: [],
    views: [],
    defaultCatalog: 'svc_stages',
    defaultSchema: undefined,
    settings: { TimeZone: 'UTC' },
    setup: [],
    arrow: 'lossless',
    limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 28, timeoutMs: 60_000 },
    splits: [{ id: 0, scan: emptyScan }],
    ...request,
  };
}

export const emptyScan: TableScan = {
  tableName: 'lake.sales.orders',
  tableUuid: 'u',
  snapshotId: undefined,
  columns: [],
  groups: [],
  counts: noCounts,
};

const file: FileScan = {
  location: 's3://bucket/ö/\u{1f600}.parquet',
  sizeBytes: 2 ** 40,
  recordCount: 0,
  version: '"etag"',
  rowGroups: [0, 1, 300, 2 ** 33],
  columnNames: ['', 'a"b', 'c\0d'],
  selectedBytes: 12,
};

const text = { kind: 'string' } as const;

/** A scan with everything that a scan may have. */
export const richScan: TableScan = {
  tableName: 'lake.sales."orders"',
  tableUuid: '7b',
  snapshotId: 9_223_372_036_854_775_807n,
  columns: [
    { id: 1, name: 'id', required: true, type: { kind: 'long' }, doc: 'what\nit is' },
    {
      id: 2,
      name: 'nested',
      required: false,
      type: {
        kind: 'struct',
        fields: [
          { id: 3, name: '__proto__', required: false, type: { kind: 'decimal', precision: 38, scale: 0 } },
          {
            id: -4,
            name: 'list',
            required: false,
            type: {
              kind: 'list',
              elementId: 5,
              elementRequired: true,
              element: { kind: 'fixed', length: 16 },
            },
          },
          {
            id: 6,
            name: 'map',
            required: false,
            type: {
              kind: 'map',
              keyId: 7,
              key: { kind: 'uuid' },
              valueId: 8,
              valueRequired: false,
              value: { kind: 'unsupported', text: 'variant' },
            },
          },
        ],
      },
      initialDefault: exactJson('{"3": 123456789012345678901234567890, "__proto__": [1.10, null, true]}'),
      writeDefault: exactJson('1e400'),
    },
  ],
  groups: [
    {
      sources: [
        { kind: 'row-id', stored: { kind: 'column', name: 'a', isExactType: true, type: text }, type: text },
        {
          kind: 'struct',
          name: 's',
          fields: [
            {
              name: 'x',
              source: { kind: 'column', name: 'y', isExactType: false, conversion: 'at-utc', type: text },
            },
            { name: 'l', source: { kind: 'list', name: 'l', element: constant(null), type: text } },
            {
              name: 'm',
              source: { kind: 'map', name: 'm', key: constant('k'), value: constant(true), type: text },
            },
          ],
          type: text,
        },
      ],
      files: [
        file,
        { ...file, rowGroups: undefined, avroRows: 7, isPart: true },
        { ...file, rowGroups: [], deletedRows: { rowCount: 3, bitmap: { kind: 'inline', base64: 'AA==' } } },
        {
          ...file,
          deletedRows: { rowCount: 3, bitmap: { kind: 'stored', location: 's3://b/d', start: 4, end: 80 } },
          origin: { sequenceNumber: -1n, partition: -1, firstRowId: null },
        },
        { ...file, origin: { sequenceNumber: 2n ** 62n, partition: 0, firstRowId: 0n } },
      ],
      deletes: [{ set: 0, sources: [{ kind: 'sequence-number', stored: undefined, type: text }] }],
    },
  ],
  counted: {
    rowCount: 5,
    low: [constant(undefined), constant({ '1': 'a', ['__proto__']: ['b', null] })],
    high: [constant([1.5, Number.NaN, -0, Number.POSITIVE_INFINITY, 10n ** 38n, Uint8Array.of(0, 255)])],
  },
  deletes: [
    {
      kind: 'equality',
      isScoped: true,
      keys: [{ id: 1, name: 'id', required: false, type: { kind: 'long' } }],
      groups: [{ sources: [], files: [file] }],
    },
  ],
  counts: { ...noCounts, deleteFilesPlanned: 1, bytesTotal: Number.MAX_SAFE_INTEGER },
};

function constant(value: unknown) {
  return { kind: 'constant', value, type: text } as const;
}

function exactJson(written: string): JsonValue {
  return parseJson(written, 'test');
}

const prefix = {
  prefix: 's3://bucket/ö',
  endpoint: undefined,
  region: 'eu-central-1',
  pathStyle: true,
  accessKeyId: 'key',
  secretAccessKey: 'secret',
  sessionToken: undefined,
  expiresAtMs: 1_800_000_000_000,
};

export const s3Grant: StoreGrant = { kind: 's3', scope: '["catalog","uuid"]', prefixes: [prefix] };

/** A task with everything that may travel. */
export function richTask(): RemoteTask {
  const name = { catalog: 'svc_stages', schema: 'main', table: 's0' };
  const literal = { type: 'HUGEINT', value: -(2n ** 127n) };
  return {
    request: plainRequest({
      joinKeys: [
        {
          target: { table: 0, name: 'a', type: 'BIGINT' },
          source: { table: 0, name: 'b', type: 'BIGINT' },
          by: undefined,
        },
      ],
      tables: [
        {
          kind: 'scan',
          ...name,
          scan: richScan,
          filters: [
            {
              kind: 'or',
              filters: [
                { kind: 'and', filters: [] },
                { kind: 'compare', column: ['a', 'b'], operator: '<>', literal },
                {
                  kind: 'in',
                  column: [],
                  literals: [
                    { type: 'DOUBLE', value: Number.NaN },
                    { type: 'BLOB', value: Uint8Array.of(1, 2) },
                    { type: 'BOOLEAN', value: false },
                    { type: 'VARCHAR', value: '' },
                  ],
                },
                { kind: 'starts-with', column: ['a'], prefix: '%' },
                { kind: 'is-null', column: ['a'] },
                { kind: 'is-not-null', column: ['a'] },
              ],
            },
          ],
        },
        { kind: 'rows', ...name, columns: richScan.columns, rows: new Uint8Array(1000).fill(7) },
        {
          kind: 'input',
          ...name,
          columns: [{ name: 'a', type: 'STRUCT(a INTEGER)' }],
          rows: { kind: 'bytes', stream: Uint8Array.of(9) },
        },
        {
          kind: 'input',
          ...name,
          columns: [],
          rows: {
            kind: 'parts',
            parts: [
              { url: 'https://s/x?X-Amz=1', bytes: 3, sha256: '0'.repeat(64) },
              { url: 'http://s/y', bytes: 0, sha256: 'f'.repeat(64) },
            ],
          },
        },
      ],
      views: [{ ...name, columns: ['x'], sql: 'SELECT 1' }],
      defaultSchema: 'main',
      settings: { TimeZone: 'Europe/Berlin', ['__proto__']: 'x' },
      setup: ['SET VARIABLE a = 1'],
      parameters: new Uint8Array(0),
      wholeColumns: { columns: [1, 0], schema: Uint8Array.of(1, 2, 3) },
      traceparent: '00-1-2-01',
      splitTable: 0,
      splits: [
        { id: 3, scan: richScan },
        { id: 1, scan: emptyScan },
      ],
    }),
    grants: [
      s3Grant,
      undefined,
      { kind: 'files' },
      {
        kind: 's3',
        scope: undefined,
        prefixes: [
          {
            ...prefix,
            endpoint: 'http://x',
            region: undefined,
            pathStyle: undefined,
            sessionToken: 't',
            expiresAtMs: undefined,
          },
        ],
      },
    ],
  };
}

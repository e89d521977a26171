import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonNumber, parseJson, printJson } from '../spec/lossless-json.js';
import { parseTableMetadata, printTableMetadata } from '../spec/parse-table-metadata.js';
import type { Snapshot } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { appendUpdates } from '../write/append-files.js';
import { createTableUpdates, newTable, type TableDefinition } from '../write/create-table.js';
import { applyUpdates } from './apply-updates.js';
import { parseCommit, printCommit } from './change-json.js';
import { checkRequirements } from './check-requirements.js';
import type { TableRequirement, TableUpdate } from './table-change.js';

const tableUuid = '7d1f0c7a-5f0b-4a43-9d0e-3c2b1a0f9e8d';
const largeId = 2n ** 62n + 12_345n;
const columns: TableDefinition['columns'] = [
  { name: 'id', type: { kind: 'long' }, required: true, doc: 'the key' },
  { name: 'at', type: { kind: 'timestamptz' } },
];

function created(formatVersion = 2, definition: Partial<TableDefinition> = {}): TableMetadata {
  const table = newTable({ columns, formatVersion, ...definition }, { tableUuid, location: '/w/t' });
  return applyUpdates(undefined, createTableUpdates(table), 1000);
}

function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    snapshotId: largeId,
    parentSnapshotId: undefined,
    sequenceNumber: 1n,
    timestampMs: 2000,
    manifestList: '/w/t/metadata/snap.avro',
    manifests: undefined,
    schemaId: 0,
    operation: 'append',
    summary: new Map([['operation', 'append']]),
    firstRowId: undefined,
    ...changes,
  };
}

function reparsed(metadata: TableMetadata): TableMetadata {
  return parseTableMetadata(Buffer.from(printTableMetadata(metadata)), 'printed');
}

for (const formatVersion of [1, 2])
  test(`a table of format ${formatVersion} is what its metadata file says, at every step`, () => {
    const steps: readonly (readonly TableUpdate[])[] = [
      appendUpdates(snapshot(), undefined),
      [{ action: 'set-properties', updates: new Map([['a', '1']]) }],
      appendUpdates(snapshot({ snapshotId: 7n, parentSnapshotId: largeId, sequenceNumber: 2n }), undefined),
      [{ action: 'remove-properties', removals: ['a', 'never there'] }],
    ];
    let metadata = created(formatVersion, { partitions: [{ column: ['at'], transform: 'month' }] });
    for (const updates of steps) {
      assert.deepEqual(reparsed(metadata), metadata);
      metadata = applyUpdates(metadata, updates, 3000);
    }
    assert.equal(metadata.currentSnapshotId, 7n);
    assert.equal(metadata.lastSequenceNumber, formatVersion === 1 ? 0n : 2n);
    assert.deepEqual(
      metadata.snapshotLog.map((entry) => entry.snapshotId),
      [largeId, 7n],
    );
    assert.equal(metadata.lastUpdatedMs, 3000);
    assert.equal('schema' in metadata.json, formatVersion === 1);
    assert.equal('partition-spec' in metadata.json, formatVersion === 1);
    assert.equal(metadata.properties.size, 0);
  });

test('what the metadata says and this version does not know stays, with every digit', () => {
  const unknown = { 'x-of-a-later-version': { list: [jsonNumber(12345678901234567890n), null] } };
  const before = created();
  const text = printJson({ ...before.json, ...unknown });
  const metadata = applyUpdates(
    parseTableMetadata(Buffer.from(text), 'test'),
    appendUpdates(snapshot(), undefined),
    0,
  );
  assert.match(
    printTableMetadata(metadata),
    /"x-of-a-later-version":\{"list":\[12345678901234567890,null\]\}/,
  );
});

test('format 1 that says everything the old way is filled in, and can become format 2', () => {
  const old = parseJson(
    `{"format-version":1,"location":"/w/t","last-updated-ms":5,"last-column-id":1,
      "schema":{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"}]},
      "partition-spec":[{"source-id":1,"field-id":1000,"name":"a","transform":"identity"}],"properties":{}}`,
    'test',
  );
  const metadata = parseTableMetadata(Buffer.from(printJson(old)), 'test');
  const same = applyUpdates(metadata, [], 1);
  assert.deepEqual(reparsed(same).schemas, metadata.schemas);
  assert.equal(same.lastUpdatedMs, 5, 'time does not go backwards');
  assert.throws(
    () => applyUpdates(same, [{ action: 'upgrade-format-version', formatVersion: 2 }], 1),
    /UUID/,
  );
  const upgraded = applyUpdates(
    same,
    [
      { action: 'assign-uuid', uuid: tableUuid },
      { action: 'upgrade-format-version', formatVersion: 2 },
    ],
    1,
  );
  assert.equal(upgraded.formatVersion, 2);
  assert.equal('schema' in upgraded.json, false);
  assert.deepEqual(upgraded.partitionSpecs, metadata.partitionSpecs);
  assert.deepEqual(upgraded.sortOrders, [{ orderId: 0, fields: [] }]);
});

test('a definition that is there already keeps its id; another gets the next', () => {
  const metadata = created();
  const [schema] = metadata.schemas;
  assert.ok(schema);
  const more = { ...schema, fields: [...schema.fields, field(3, 'more')] };
  const changed = applyUpdates(
    metadata,
    [
      { action: 'add-schema', schema: more },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: { specId: 9, fields: [] } },
      { action: 'set-default-spec', specId: -1 },
    ],
    1,
  );
  assert.deepEqual([changed.currentSchemaId, changed.lastColumnId, changed.defaultSpecId], [1, 3, 0]);
  const back = applyUpdates(
    changed,
    [
      { action: 'add-schema', schema },
      { action: 'set-current-schema', schemaId: -1 },
    ],
    1,
  );
  assert.deepEqual([back.currentSchemaId, back.schemas.length], [0, 2]);
});

test('removing a snapshot removes its references and the history before it', () => {
  let metadata = applyUpdates(created(), appendUpdates(snapshot(), undefined), 1);
  const second = snapshot({ snapshotId: 7n, sequenceNumber: 2n });
  metadata = applyUpdates(metadata, appendUpdates(second, undefined), 1);
  const tag: TableUpdate = {
    action: 'set-snapshot-ref',
    refName: 'first',
    reference: { type: 'tag', snapshotId: largeId, maxRefAgeMs: 2n ** 63n - 1n },
  };
  metadata = applyUpdates(metadata, [tag], 1);
  assert.equal(reparsed(metadata).refs.get('first')?.maxRefAgeMs, 2n ** 63n - 1n);
  metadata = applyUpdates(metadata, [{ action: 'remove-snapshots', snapshotIds: [largeId] }], 1);
  assert.deepEqual([...metadata.refs.keys()], ['main']);
  assert.deepEqual(
    metadata.snapshotLog.map((entry) => entry.snapshotId),
    [7n],
  );
});

const wrongUpdates: readonly (readonly [TableUpdate, RegExp])[] = [
  [{ action: 'assign-uuid', uuid: 'another' }, /UUID/],
  [{ action: 'upgrade-format-version', formatVersion: 1 }, /cannot become 1/],
  [{ action: 'upgrade-format-version', formatVersion: 3 }, /version 3 are not written/],
  [{ action: 'set-current-schema', schemaId: 5 }, /no schema 5/],
  [{ action: 'set-default-spec', specId: -1 }, /no partition spec was added/],
  [{ action: 'add-snapshot', snapshot: snapshot({ sequenceNumber: 0n }) }, /sequence number 0/],
  [
    { action: 'set-snapshot-ref', refName: 'b', reference: { type: 'branch', snapshotId: 1n } },
    /snapshot 1, which is not there/,
  ],
];

for (const [update, message] of wrongUpdates)
  test(`refuses ${update.action} when it does not fit: ${message.source}`, () => {
    assert.throws(() => applyUpdates(created(), [update], 1), message);
  });

test('updates that leave no valid table are refused', () => {
  const updates = createTableUpdates(newTable({ columns }, { tableUuid, location: '/w/t' }));
  const withoutSchema = updates.filter((update) => !update.action.includes('schema'));
  assert.throws(() => applyUpdates(undefined, withoutSchema, 1), { code: 'INVALID_ARGUMENT' });
});

test('a table cannot lose a column that it is partitioned by', () => {
  const metadata = created(2, { partitions: [{ column: ['at'], transform: 'month' }] });
  const [schema] = metadata.schemas;
  assert.ok(schema);
  const change = (fields: typeof schema.fields) =>
    applyUpdates(
      metadata,
      [
        { action: 'add-schema', schema: { ...schema, fields } },
        { action: 'set-current-schema', schemaId: -1 },
      ],
      1,
    );
  assert.throws(() => change(schema.fields.slice(0, 1)), /"at_month" is made of a column that is not there/);
  const text = schema.fields.map((each) => ({ ...each, type: { kind: 'string' } as const }));
  assert.throws(() => change(text), /cannot be partitioned by month/);
});

test('requirements hold for the table they were made for and for no other', () => {
  const metadata = created();
  const holding: readonly TableRequirement[] = [
    { type: 'assert-table-uuid', uuid: tableUuid.toUpperCase() },
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: undefined },
    { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 2 },
    { type: 'assert-current-schema-id', currentSchemaId: 0 },
    { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 999 },
    { type: 'assert-default-spec-id', defaultSpecId: 0 },
    { type: 'assert-default-sort-order-id', defaultSortOrderId: 0 },
  ];
  checkRequirements(metadata, holding, '"t"');
  checkRequirements(undefined, [{ type: 'assert-create' }], '"t"');
  const failing: readonly (readonly [TableRequirement, string, boolean])[] = [
    [{ type: 'assert-create' }, 'ALREADY_EXISTS', false],
    [{ type: 'assert-table-uuid', uuid: 'x' }, 'COMMIT_CONFLICT', false],
    [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 1n }, 'COMMIT_CONFLICT', true],
    [{ type: 'assert-current-schema-id', currentSchemaId: 1 }, 'COMMIT_CONFLICT', true],
  ];
  for (const [requirement, code, retryable] of failing)
    assert.throws(() => checkRequirements(metadata, [requirement], '"t"'), { code, retryable });
  assert.throws(() => checkRequirements(undefined, holding, '"t"'), { code: 'TABLE_NOT_FOUND' });
});

test('commits survive JSON, digit for digit', () => {
  const table = newTable(
    { columns, partitions: [{ column: ['id'], transform: 'bucket[8]' }], properties: { a: 'b' } },
    { tableUuid, location: '/w/t' },
  );
  const updates: readonly TableUpdate[] = [
    ...createTableUpdates(table),
    ...appendUpdates(snapshot(), { type: 'branch', snapshotId: 1n, minSnapshotsToKeep: 3n }),
    { action: 'remove-properties', removals: ['x'] },
    { action: 'remove-snapshots', snapshotIds: [largeId] },
    { action: 'remove-snapshot-ref', refName: 'b' },
  ];
  const requirements: readonly TableRequirement[] = [
    { type: 'assert-create' },
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: undefined },
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: largeId },
    { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 2 },
  ];
  const text = printJson(printCommit({ requirements, updates }));
  assert.match(text, new RegExp(`"snapshot-id":${largeId}`));
  assert.deepEqual(parseCommit(parseJson(text, 'test')), { requirements, updates });
});

test('a commit with something unknown in it is refused, not half understood', () => {
  const parse = (update: string) =>
    parseCommit(parseJson(`{"requirements":[],"updates":[${update}]}`, 'test'));
  assert.throws(() => parse('{"action":"add-encryption-key"}'), /the update "add-encryption-key"/);
  assert.throws(
    () =>
      parse(
        '{"action":"add-snapshot","snapshot":{"snapshot-id":1,"timestamp-ms":1,"manifest-list":"x","key-id":"k"}}',
      ),
    /the field "snapshot.key-id"/,
  );
  assert.throws(() => parse('{"action":"set-location"}'), /updates\[0\].location must be a string/);
});

function field(id: number, name: string) {
  return { id, name, required: false, type: { kind: 'int' } } as const;
}

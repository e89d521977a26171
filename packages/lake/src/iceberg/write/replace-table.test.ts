import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetadataFiles } from '../cache/metadata-files.js';
import { applyUpdates } from '../changes/apply-updates.js';
import { checkRequirements } from '../changes/check-requirements.js';
import type { TableCommit } from '../changes/table-change.js';
import { planFiles } from '../scan/plan-files.js';
import { schemaById } from '../scan/resolve-snapshot.js';
import { fieldIdsOf } from '../spec/field-ids.js';
import { parseTableMetadata, printTableMetadata } from '../spec/parse-table-metadata.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { createMemoryStore } from '../testing/memory-store.js';
import { plainFile } from '../testing/table-fixture.js';
import { createAppend } from './append-files.js';
import type { ColumnDefinition, ColumnType } from './column-definition.js';
import { createTableUpdates, newTable, type TableDefinition } from './create-table.js';
import { createReplacement, replacedTable } from './replace-table.js';

const tableUuid = 'd1f0c7a2-5f0b-4a43-9d0e-3c2b1a0f9e8d';
const int = { kind: 'int' } as const;
const long = { kind: 'long' } as const;
const text = { kind: 'string' } as const;

function column(name: string, type: ColumnType = { kind: 'int' }, required = false): ColumnDefinition {
  return { name, type, required };
}

test('columns keep their ids by name, also within others, and no id is used twice', () => {
  const table = memoryTable({
    columns: [
      column('a'),
      column('s', { kind: 'struct', fields: [column('x'), column('y', { kind: 'list', element: int })] }),
      column('m', { kind: 'map', key: text, value: { kind: 'struct', fields: [column('v')] } }),
      column('Case'),
    ],
  });
  assert.deepEqual(idsOf(table.metadata()), { a: 1, s: 2, m: 3, Case: 4 });
  const replaced = replacedTable(table.loaded(), {
    columns: [
      column('new'),
      column('CASE', long),
      column('m', {
        kind: 'map',
        key: text,
        value: { kind: 'struct', fields: [column('w'), column('v', long)] },
      }),
      column('s', { kind: 'struct', fields: [column('y', { kind: 'list', element: text }), column('x')] }),
      column('a', text),
    ],
  }).metadata;
  const { fields } = schemaById(replaced, undefined);
  assert.deepEqual(idsOf(replaced), { new: 11, CASE: 4, m: 3, s: 2, a: 12 });
  const [m, s] = [fields[2]?.type, fields[3]?.type];
  assert.deepEqual(m?.kind === 'map' && [m.keyId, m.valueId, fieldsOf(m.value)], [8, 9, { w: 13, v: 10 }]);
  assert.deepEqual(s && fieldsOf(s), { y: 6, x: 5 });
  assert.equal(replaced.lastColumnId, 14, 'the element of the list is another one');
  const all = fieldIdsOf(fields);
  assert.equal(new Set(all).size, all.length);
  const again = replacedTable(
    { ...table.loaded(), metadata: replaced },
    { columns: [column('a', text), column('b')] },
  );
  assert.deepEqual(idsOf(again.metadata), { a: 12, b: 15 });
});

test('the partition spec is new, with ids as in format 2, and unsorted is order 0 whatever was there', () => {
  const table = memoryTable({
    columns: [column('a'), column('b', text)],
    partitions: [
      { column: ['a'], transform: 'bucket[4]' },
      { column: ['b'], transform: 'identity' },
    ],
  });
  const sorted = applyUpdates(
    table.metadata(),
    [
      {
        action: 'add-sort-order',
        sortOrder: {
          orderId: 0,
          fields: [{ sourceIds: [1], transform: 'identity', direction: 'asc', nullOrder: 'nulls-first' }],
        },
      },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    ],
    1,
  );
  const withoutUnsorted = {
    ...sorted,
    sortOrders: sorted.sortOrders.filter(({ orderId }) => orderId !== 0),
    json: { ...sorted.json, 'sort-orders': [...(sorted.json['sort-orders'] as never[])].slice(1) },
  };
  const { metadata } = replacedTable(
    { ...table.loaded(), metadata: withoutUnsorted },
    {
      columns: [column('b', text), column('a'), column('c')],
      partitions: [
        { column: ['c'], transform: 'identity' },
        { column: ['a'], transform: 'bucket[4]' },
      ],
    },
  );
  assert.deepEqual(specOf(metadata), ['1002 c: identity of 3', '1000 a_bucket: bucket[4] of 1']);
  assert.deepEqual(
    [metadata.defaultSpecId, metadata.lastPartitionId, metadata.defaultSortOrderId],
    [1, 1002, 0],
  );
  assert.deepEqual(metadata.sortOrders.at(-1), { orderId: 0, fields: [] });
});

test('format 1 keeps all partition fields at their places', () => {
  const table = memoryTable({
    formatVersion: 1,
    columns: [column('a'), column('b', text), column('c')],
    partitions: ['a', 'b', 'c'].map((name) => ({ column: [name], transform: 'identity' })),
  });
  const definition: TableDefinition = {
    columns: [column('b', text), column('c', text), column('d')],
    partitions: [
      { column: ['d'], transform: 'identity' },
      { column: ['b'], transform: 'identity' },
    ],
  };
  const { metadata } = replacedTable(table.loaded(), definition);
  assert.deepEqual(specOf(metadata), [
    '1000 a: void of 1',
    '1001 b: identity of 2',
    '1002 c_1002: void of 3',
    '1003 d: identity of 5',
  ]);
  const upgraded = replacedTable(table.loaded(), { ...definition, formatVersion: 2 }).metadata;
  assert.deepEqual(specOf(upgraded), ['1003 d: identity of 5', '1001 b: identity of 2']);
  assert.equal(upgraded.formatVersion, 2);
});

test('one commit replaces rows and columns; the snapshots before stay, and those who pinned one keep it', async () => {
  const table = memoryTable({
    columns: [column('a')],
    properties: { comment: 'what it was', keep: '1', change: '1' },
  });
  await table.append('old');
  const pinned = table.loaded();
  await table.commit(
    table.replacement({ columns: [column('b', text)], properties: { change: '2' } }, ['new']),
  );
  const { metadata } = table.loaded();
  assert.deepEqual(await table.planned(), ['new']);
  assert.deepEqual(await table.planned(pinned), ['old']);
  assert.equal(metadata.snapshots.length, 2);
  assert.equal(metadata.snapshots[1]?.parentSnapshotId, undefined);
  assert.equal(metadata.snapshots[1]?.summary.get('total-records'), '10');
  assert.deepEqual(
    metadata.snapshotLog.map((entry) => entry.snapshotId),
    metadata.snapshots.map((each) => each.snapshotId),
  );
  assert.deepEqual(Object.fromEntries(metadata.properties), { keep: '1', change: '2' });
  assert.deepEqual([metadata.tableUuid, metadata.location], [tableUuid, 'mem']);
});

test('without rows the table has an empty snapshot: it is told when it was emptied', async () => {
  const table = memoryTable({ columns: [column('a')] });
  await table.append('old');
  await table.commit(table.replacement({ columns: [column('a')] }, []));
  assert.deepEqual(await table.planned(), []);
  assert.equal(table.metadata().snapshotLog.length, 2);
});

test('rows that are appended meanwhile are overtaken, unless the new ones were read from the table', async () => {
  const table = memoryTable({ columns: [column('a')] });
  await table.append('first');
  const { currentSnapshotId: snapshotId } = table.metadata();
  const wanted = { columns: [column('a')] };
  const [plain, reading] = [
    table.replacement(wanted, ['new']),
    table.replacement(wanted, ['x'], { snapshotId }),
  ];
  const early = await plain.prepare(table.loaded());
  await table.append('second');
  assert.throws(() => table.apply(early), { code: 'COMMIT_CONFLICT', retryable: true });
  await assert.rejects(reading.prepare(table.loaded()), {
    code: 'COMMIT_CONFLICT',
    retryable: false,
    message: /after the query had read it/,
  });
  await reading.cleanUp(undefined);
  await table.commit(plain);
  await plain.cleanUp(table.metadata());
  assert.deepEqual(await table.planned(), ['new']);
  assert.equal(table.metadata().snapshots.length, 3);
  assert.deepEqual(await table.unusedFiles(), []);
});

test('a table that was altered or made anew meanwhile is not replaced by files of other columns', async () => {
  const table = memoryTable({ columns: [column('a')] });
  const replacement = table.replacement({ columns: [column('a'), column('b')] }, ['new']);
  await table.commit(table.replacement({ columns: [column('z')] }, []));
  await assert.rejects(replacement.prepare(table.loaded()), {
    code: 'COMMIT_CONFLICT',
    retryable: false,
    message: /was altered/,
  });
  const remade = memoryTable({ columns: [column('a')] }, 'c0ffee00-5f0b-4a43-9d0e-3c2b1a0f9e8d');
  await assert.rejects(replacement.prepare(remade.loaded()), {
    code: 'COMMIT_CONFLICT',
    retryable: false,
    message: /made anew/,
  });
});

test('rows that were written for the table before it was replaced are added only if it still has their columns', async () => {
  const table = memoryTable({ columns: [column('a'), column('b')] });
  const [stays, goes] = [table.newAppend('stays'), table.newAppend('goes')];
  const widened = { columns: [column('b', long), column('a'), column('c')] };
  await table.commit(table.replacement(widened, []));
  await table.commit(stays);
  assert.deepEqual(await table.planned(), ['stays']);
  for (const columns of [
    [column('a')],
    [column('a'), column('b', text)],
    [column('a'), column('b', long, true)],
  ]) {
    await table.commit(table.replacement({ columns }, []));
    await assert.rejects(goes.prepare(table.loaded()), { code: 'COMMIT_CONFLICT', message: /column "b"/ });
  }
});

test('what cannot be is refused', () => {
  const table = memoryTable({ columns: [column('a')] });
  const third: TableMetadata = { ...table.metadata(), formatVersion: 3 };
  assert.throws(() => replacedTable({ ...table.loaded(), metadata: third }, { columns: [column('a')] }), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /format version 3/,
  });
  assert.throws(() => replacedTable(table.loaded(), { columns: [column('a')], formatVersion: 1 }), {
    code: 'INVALID_ARGUMENT',
    message: /cannot become 1/,
  });
});

type ReadFrom = Parameters<typeof createReplacement>[0]['readFrom'];

function memoryTable(definition: TableDefinition, uuid = tableUuid) {
  const store = createMemoryStore();
  const files = createMetadataFiles(10_000_000);
  const made = newTable(definition, { tableUuid: uuid, location: 'mem' });
  let metadata = applyUpdates(undefined, createTableUpdates(made), 1000);
  const identifier = { namespace: ['test'], name: 'memory' };
  const loaded = () => ({ identifier, metadata, metadataLocation: 'mem/metadata/v1.metadata.json', store });
  const filesOf = (names: readonly string[]) => names.map((name) => plainFile(name));
  const apply = ({ requirements, updates }: TableCommit) => {
    checkRequirements(metadata, requirements, 'memory');
    const changed = applyUpdates(metadata, updates, Date.now());
    metadata = parseTableMetadata(Buffer.from(printTableMetadata(changed)), 'memory');
  };
  const commit = async (change: Pick<ReturnType<typeof createReplacement>, 'prepare'>) =>
    apply(await change.prepare(loaded()));
  const newAppend = (name: string) =>
    createAppend({
      store,
      files,
      dataFiles: filesOf([name]),
      tableUuid: uuid,
      specId: 0,
      schemaId: metadata.currentSchemaId,
    });
  return {
    loaded,
    apply,
    commit,
    newAppend,
    metadata: () => metadata,
    append: (name: string) => commit(newAppend(name)),
    replacement(wanted: TableDefinition, names: readonly string[], readFrom?: ReadFrom) {
      const target = replacedTable(loaded(), wanted);
      const dataFiles = filesOf(names);
      return createReplacement({ store, files, dataFiles, definition: wanted, target, readFrom });
    },
    async planned(table = loaded()): Promise<readonly string[]> {
      const request = { columns: undefined, filters: [] };
      const plan = await planFiles(table, { kind: 'current' }, request, { files });
      return plan.files.map((file) => file.location).sort();
    },
    async unusedFiles(): Promise<readonly string[]> {
      const lists = metadata.snapshots.map((each) => each.manifestList ?? '');
      return [...store.objects.keys()].filter((name) => name.includes('/snap-') && !lists.includes(name));
    },
  };
}

function idsOf(metadata: TableMetadata): Readonly<Record<string, number>> {
  return fieldsOf({ kind: 'struct', fields: schemaById(metadata, undefined).fields });
}

function fieldsOf(
  type: ReturnType<typeof schemaById>['fields'][number]['type'],
): Readonly<Record<string, number>> {
  return type.kind === 'struct' ? Object.fromEntries(type.fields.map(({ name, id }) => [name, id])) : {};
}

function specOf(metadata: TableMetadata): readonly string[] {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  return (spec?.fields ?? []).map(
    ({ fieldId, name, transform, sourceIds }) => `${fieldId} ${name}: ${transform} of ${sourceIds.join()}`,
  );
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTableMetadata } from '../spec/parse-table-metadata.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { resolveSnapshot, type SnapshotPin } from './resolve-snapshot.js';

const snapshot = (id: number, timestampMs: number, parent?: number) => ({
  'snapshot-id': id,
  'timestamp-ms': timestampMs,
  ...(parent !== undefined && { 'parent-snapshot-id': parent }),
  'manifest-list': `${id}.avro`,
  'schema-id': id === 3 ? 1 : 0,
});

function metadata(changes: Readonly<Record<string, unknown>> = {}): TableMetadata {
  const schema = (id: number) => ({ type: 'struct', 'schema-id': id, fields: [] });
  const json = {
    'format-version': 2,
    'table-uuid': 'u',
    location: 'loc',
    'last-sequence-number': 3,
    'last-updated-ms': 1,
    'last-column-id': 0,
    'current-schema-id': 2,
    schemas: [schema(0), schema(1), schema(2)],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'current-snapshot-id': 3,
    snapshots: [snapshot(1, 1000), snapshot(2, 2000, 1), snapshot(3, 3000, 1)],
    // Snapshot 2 was rolled back at 2500.
    'snapshot-log': [
      { 'snapshot-id': 1, 'timestamp-ms': 1000 },
      { 'snapshot-id': 2, 'timestamp-ms': 2000 },
      { 'snapshot-id': 1, 'timestamp-ms': 2500 },
      { 'snapshot-id': 3, 'timestamp-ms': 3000 },
    ],
    refs: {
      main: { 'snapshot-id': 3, type: 'branch' },
      dev: { 'snapshot-id': 2, type: 'branch' },
      v1: { 'snapshot-id': 1, type: 'tag' },
    },
    ...changes,
  };
  return parseTableMetadata(Buffer.from(JSON.stringify(json)), 'm.json');
}

function resolved(pin: SnapshotPin, table = metadata()): string {
  const { snapshot: found, schema } = resolveSnapshot(table, pin, 's.t');
  return `${found?.snapshotId} under ${schema.schemaId}`;
}

test('branches are read under the current schema, everything else under its own', () => {
  assert.equal(resolved({ kind: 'current' }), '3 under 2');
  assert.equal(resolved({ kind: 'reference', name: 'main' }), '3 under 2');
  assert.equal(resolved({ kind: 'reference', name: 'dev' }), '2 under 2');
  assert.equal(resolved({ kind: 'reference', name: 'v1' }), '1 under 0');
  assert.equal(resolved({ kind: 'id', snapshotId: 3n }), '3 under 1');
  assert.equal(resolved({ kind: 'id', snapshotId: 3n, schemaId: 2 }), '3 under 2');
});

test('a time finds what was current then, rollbacks included', () => {
  const at = (timestampMs: number) => resolved({ kind: 'timestamp', timestampMs });
  assert.equal(at(1000), '1 under 0');
  assert.equal(at(2499), '2 under 0');
  assert.equal(at(2500), '1 under 0');
  assert.equal(at(9e15), '3 under 1');
});

test('a table without a log is asked for the ancestors of its current snapshot', () => {
  const table = metadata({ 'snapshot-log': [] });
  assert.equal(resolved({ kind: 'timestamp', timestampMs: 2700 }, table), '1 under 0');
  const circle = metadata({ 'snapshot-log': [], snapshots: [snapshot(3, 3000, 3)], refs: {} });
  assert.equal(resolved({ kind: 'timestamp', timestampMs: 3000 }, circle), '3 under 1');
});

test('a table that was never written to has no current snapshot', () => {
  const table = metadata({ 'current-snapshot-id': null, snapshots: [], 'snapshot-log': [], refs: {} });
  assert.equal(resolved({ kind: 'current' }, table), 'undefined under 2');
  assert.equal(resolved({ kind: 'reference', name: 'main' }, table), 'undefined under 2');
});

test('what does not exist is answered with what does', () => {
  const fails = (pin: SnapshotPin, message: string) =>
    assert.throws(() => resolved(pin), { code: 'SNAPSHOT_NOT_FOUND', message });
  fails({ kind: 'reference', name: 'prod' }, 'Table s.t has no branch or tag "prod"; it has main, dev, v1.');
  const listed = '3 (1970-01-01T00:00:03.000Z), 2 (1970-01-01T00:00:02.000Z), 1 (1970-01-01T00:00:01.000Z)';
  fails({ kind: 'id', snapshotId: 2n ** 62n }, `Table s.t has no snapshot ${2n ** 62n}; it has ${listed}.`);
  assert.throws(() => resolved({ kind: 'timestamp', timestampMs: 999 }), {
    code: 'SNAPSHOT_NOT_FOUND',
    message: /had no snapshot at 1970-01-01T00:00:00\.999Z; it has 1 \(/,
  });
});

test('and not with what there is where that may not be told', () => {
  const fails = (pin: SnapshotPin, message: string) =>
    assert.throws(() => resolveSnapshot(metadata({}), pin, 's.t', { mayList: false }), {
      code: 'SNAPSHOT_NOT_FOUND',
      message,
    });
  fails({ kind: 'reference', name: 'prod' }, 'Table s.t has no branch or tag "prod".');
  fails({ kind: 'id', snapshotId: 7n }, 'Table s.t has no snapshot 7.');
  fails({ kind: 'timestamp', timestampMs: 999 }, 'Table s.t had no snapshot at 1970-01-01T00:00:00.999Z.');
});

test('a time before the first commit is one without rows, where it is asked for and all commits are known', () => {
  const pin = { kind: 'timestamp', timestampMs: 999 } as const;
  assert.throws(() => resolved(pin), { code: 'SNAPSHOT_NOT_FOUND' });
  assert.equal(resolved({ ...pin, isEmptyBefore: true }), 'undefined under 0');
  const kept = metadata({ 'snapshot-log': [{ 'snapshot-id': 2, 'timestamp-ms': 2000 }] });
  assert.throws(() => resolved({ ...pin, isEmptyBefore: true }, kept), { code: 'SNAPSHOT_NOT_FOUND' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import { seededRandom } from '../testing/seeded-random.js';
import { nameMappingOf, parseNameMapping } from './name-mapping.js';
import { parseTableMetadata, printTableMetadata } from './parse-table-metadata.js';
import type { TableMetadata } from './table-metadata.js';

const fields = `[{"id": 1, "name": "id", "required": true, "type": "long"},
  {"id": 2, "name": "tags", "required": false, "doc": "free text", "type":
    {"type": "map", "key-id": 3, "key": "string", "value-id": 4, "value-required": false, "value":
      {"type": "list", "element-id": 5, "element-required": true, "element":
        {"type": "struct", "fields": [{"id": 6, "name": "price", "required": false, "type": "decimal(9, 2)"}]}}}}]`;

const version1 = `{"format-version": 1, "location": "s3://b/t", "last-updated-ms": 1, "last-column-id": 6,
  "schema": {"type": "struct", "fields": ${fields}},
  "partition-spec": [{"source-id": 1, "name": "id_bucket", "transform": "bucket[4]"}, {"source-id": 6, "field-id": 1009, "name": "p", "transform": "identity"}],
  "current-snapshot-id": -1, "snapshots": [{"snapshot-id": 9007199254740993, "timestamp-ms": 5, "manifests": ["a.avro"]}]}`;

const version2 = `{"format-version": 2, "table-uuid": "u", "location": "s3://b/t", "last-sequence-number": 34, "last-updated-ms": 1602638573590,
  "last-column-id": 6, "current-schema-id": 1, "schemas": [
    {"type": "struct", "schema-id": 0, "fields": []},
    {"type": "struct", "schema-id": 1, "identifier-field-ids": [1], "fields": ${fields}}],
  "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "x", "transform": "zorder[3]"}]}],
  "last-partition-id": 1000, "default-sort-order-id": 3,
  "sort-orders": [{"order-id": 3, "fields": [{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}]}],
  "properties": {"read.split.target.size": "134217728"}, "current-snapshot-id": 3055729675574597004,
  "snapshots": [
    {"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770, "sequence-number": 0, "summary": {"operation": "append"}, "manifest-list": "1.avro"},
    {"snapshot-id": 3055729675574597004, "parent-snapshot-id": 3051729675574597004, "timestamp-ms": 1555100955770, "sequence-number": 1,
     "summary": {"operation": "append", "total-records": "7"}, "manifest-list": "2.avro", "schema-id": 1}],
  "snapshot-log": [{"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770}],
  "metadata-log": [{"metadata-file": "s3://b/0.json", "timestamp-ms": 1515100}],
  "refs": {"audit": {"snapshot-id": 3051729675574597004, "type": "tag", "max-ref-age-ms": 10}},
  "statistics": [{"snapshot-id": 3055729675574597004, "statistics-path": "s.puffin", "file-size-in-bytes": 413, "file-footer-size-in-bytes": 42, "blob-metadata": []}],
  "unknown-to-us": {"exact": 12345678901234567890.10, "list": [1.0, null, true]}}`;

const version3 = version2
  .replace(
    '"format-version": 2',
    '"format-version": 3, "next-row-id": 9007199254740993, "encryption-keys": []',
  )
  .replace('"type": "long"}', '"type": "long", "initial-default": 9007199254740993, "write-default": 1}')
  .replace('"decimal(9, 2)"', '"variant"')
  .replace('"source-id": 1, "field-id": 1000', '"source-ids": [1, 6], "field-id": 1000')
  .replace('"schema-id": 1}],', '"schema-id": 1, "first-row-id": 100, "key-id": "k"}],');

const parse = (text: string | Uint8Array): TableMetadata => parseTableMetadata(Buffer.from(text), 'm.json');

test('reads format 1 and fills in what it leaves out', () => {
  const metadata = parse(version1);
  assert.equal(metadata.tableUuid, '');
  assert.equal(metadata.currentSnapshotId, undefined);
  assert.equal(metadata.lastSequenceNumber, 0n);
  assert.deepEqual(
    metadata.partitionSpecs.map((spec) => spec.fields.map((field) => field.fieldId)),
    [[1000, 1009]],
  );
  assert.equal(metadata.lastPartitionId, 1009);
  assert.deepEqual(metadata.snapshots[0]?.manifests, ['a.avro']);
  assert.equal(metadata.snapshots[0]?.snapshotId, 9007199254740993n);
  assert.equal(metadata.refs.size, 0);
});

test('reads format 2', () => {
  const metadata = parse(version2);
  assert.equal(metadata.currentSnapshotId, 3055729675574597004n);
  assert.equal(metadata.snapshots[1]?.parentSnapshotId, 3051729675574597004n);
  assert.equal(metadata.snapshots[1]?.summary.get('total-records'), '7');
  assert.deepEqual([...metadata.refs.keys()], ['audit', 'main']);
  assert.equal(metadata.partitionSpecs[0]?.fields[0]?.transform, 'zorder[3]');
  const schema = metadata.schemas.find((each) => each.schemaId === metadata.currentSchemaId);
  assert.deepEqual(schema?.identifierFieldIds, [1]);
  assert.deepEqual(schema?.fields[1]?.type, {
    kind: 'map',
    keyId: 3,
    key: { kind: 'string' },
    valueId: 4,
    valueRequired: false,
    value: {
      kind: 'list',
      elementId: 5,
      elementRequired: true,
      element: {
        kind: 'struct',
        fields: [
          { id: 6, name: 'price', required: false, type: { kind: 'decimal', precision: 9, scale: 2 } },
        ],
      },
    },
  });
  assert.deepEqual(metadata.statistics, [
    { snapshotId: 3055729675574597004n, location: 's.puffin', sizeBytes: 413 },
  ]);
});

test('reads format 3 with types that it will only refuse when they are read', () => {
  const metadata = parse(version3);
  assert.equal(metadata.nextRowId, 9007199254740993n);
  assert.equal(metadata.snapshots[1]?.firstRowId, 100n);
  assert.deepEqual(metadata.partitionSpecs[0]?.fields[0]?.sourceIds, [1, 6]);
  assert.equal(String(metadata.schemas[1]?.fields[0]?.initialDefault), '9007199254740993');
  assert.match(JSON.stringify(metadata.schemas[1]), /"kind":"unsupported","text":"variant"/);
});

test('what is printed is what was read, to the last digit', () => {
  const squeeze = (text: string) => text.replace(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/g, '');
  for (const text of [version1, version2, version3])
    assert.equal(printTableMetadata(parse(text)), squeeze(text));
});

test('reads compressed metadata, and names it when it is cut', () => {
  const compressed = gzipSync(version2);
  assert.equal(parse(compressed).formatVersion, 2);
  assertCorrupt(compressed.subarray(0, 100), /^m\.json is not a valid gzip file/);
});

/** A replacement in the text of format 2, and the message it leads to. */
const damages: readonly (readonly [string | RegExp, string, RegExp])[] = [
  [/.*/s, '', /^m\.json is not valid JSON/],
  [/.*/s, '[1]', /^m\.json: the content must be an object; it is \[1\]\.$/],
  [/.*/s, '['.repeat(100_000), /nested too deeply/],
  ['"format-version": 2', '"format-version": 0', /format version 0/],
  ['"format-version": 2,', '', /format-version must be an integer; it is missing/],
  ['"location": "s3://b/t"', '"location": 7', /location must be a string; it is 7/],
  ['"current-schema-id": 1', '"current-schema-id": 9', /current schema 9, which is not among/],
  ['"default-spec-id": 0', '"default-spec-id": 5', /default partition spec 5/],
  ['"current-snapshot-id": 3055729675574597004', '"current-snapshot-id": 5', /current snapshot 5/],
  ['"id": 6', '"id": 1', /schemas\[1\] uses the field id 1 twice/],
  ['"decimal(9, 2)"', '"decimal(99, 2)"', /has the unknown type "decimal\(99, 2\)"/],
  ['"decimal(9, 2)"', '{"type": "tuple"}', /unknown type "tuple"/],
  [
    '3051729675574597004, "timestamp-ms"',
    '1e3, "timestamp-ms"',
    /snapshots\[0\]\.snapshot-id must be a 64-bit integer; it is 1e3/,
  ],
  ['3051729675574597004, "timestamp-ms"', '9223372036854775808, "timestamp-ms"', /must be a 64-bit integer/],
  ['"manifest-list": "1.avro"', '"x": 1', /snapshots\[0\] has neither a manifest-list nor manifests/],
  ['"type": "tag"', '"type": "twig"', /refs\.audit has the type "twig"/],
  ['"fields": []}', '"fields": {}}', /schemas\[0\]\.fields must be a list/],
];

for (const [from, to, message] of damages)
  test(`says what is wrong: ${message.source}`, () => {
    assertCorrupt(Buffer.from(version2.replace(from, to)), message);
  });

test('refuses a later format version by its number', () => {
  assert.throws(() => parse(version2.replace('"format-version": 2', '"format-version": 4')), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: 'm.json has format version 4; versions 1 to 3 are read.',
  });
});

test('any damage is an error that names the file, or goes unnoticed', () => {
  const seed = 77;
  const random = seededRandom(seed);
  const alphabet = '{}[]",:0123456789.-eEtruefalsn \\u';
  for (let round = 0; round < 1500; round++) {
    const characters = [
      ...version3.slice(0, round % 3 === 0 ? random.below(version3.length) : version3.length),
    ];
    for (let change = 1 + random.below(3); change > 0; change--)
      characters[random.below(characters.length)] = random.pick([...alphabet]);
    try {
      parse(characters.join(''));
    } catch (error) {
      const isNamed =
        error instanceof QueryError &&
        /^(DATA_CORRUPT|UNSUPPORTED_TABLE_FEATURE)$/.test(error.code) &&
        error.message.startsWith('m.json');
      assert.ok(isNamed, `seed ${seed} round ${round}: ${String(error)}`);
    }
  }
});

test('a name mapping reads as it was made, and is named when it is damaged', () => {
  const [schema] = [parse(version2).schemas[1]];
  const text = nameMappingOf(schema?.fields ?? []);
  const [id, tags] = parseNameMapping(text, 's3://b/t');
  assert.deepEqual(id, { fieldId: 1, names: ['id'], fields: [] });
  assert.deepEqual(
    tags?.fields.map((field) => field.names),
    [['key'], ['value']],
  );
  assert.equal(tags?.fields[1]?.fields[0]?.fields[0]?.fieldId, 6);
  const withoutId = parseNameMapping('[{"names": ["a", "b"]}]', 's3://b/t');
  assert.deepEqual(withoutId, [{ fieldId: undefined, names: ['a', 'b'], fields: [] }]);
  for (const damaged of ['{', '7', '[7]', '[{"names": [1]}]'])
    assert.throws(() => parseNameMapping(damaged, 's3://b/t'), {
      code: 'DATA_CORRUPT',
      message: /^The property schema\.name-mapping\.default of table s3:\/\/b\/t/,
    });
});

function assertCorrupt(bytes: Uint8Array, message: RegExp): void {
  assert.throws(
    () => parse(bytes),
    (error: unknown) =>
      error instanceof QueryError && error.code === 'DATA_CORRUPT' && message.test(error.message),
    String(message),
  );
}

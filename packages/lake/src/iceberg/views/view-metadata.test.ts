import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, printJson } from '../spec/lossless-json.js';
import {
  newViewMetadata,
  parseViewMetadata,
  printViewMetadata,
  replaceViewVersion,
  sqlOfView,
  type ViewDefinition,
  viewDialect,
} from './view-metadata.js';

const place = { viewUuid: '0d9a6a52-3f4e-4b8b-8c6f-0c1f9d9f8f11', location: '/w/s/v' };

function definition(sql: string, changes: Partial<ViewDefinition> = {}): ViewDefinition {
  return {
    columns: [{ name: 'a', type: { kind: 'int' }, doc: 'first' }],
    representations: [{ sql, dialect: viewDialect }],
    defaultCatalog: 'lake',
    defaultNamespace: ['s'],
    ...changes,
  };
}

test('a view is what its metadata file says', () => {
  const view = newViewMetadata(definition('select 1 a', { summary: { 'engine-name': 'svc' } }), place, 5);
  assert.deepEqual(parseViewMetadata(Buffer.from(printViewMetadata(view)), 'test'), view);
  assert.equal(sqlOfView(view, 'DuckDB'), 'select 1 a');
  assert.equal(sqlOfView(view, 'trino'), undefined);
  assert.equal(view.currentVersion.summary.get('engine-name'), 'svc');
  assert.deepEqual(view.currentVersion.defaultNamespace, ['s']);
  assert.equal(view.schema.fields[0]?.doc, 'first');
});

test('a new version keeps uuid, schemas and what is unknown, and reuses the same schema', () => {
  const first = newViewMetadata(definition('select 1 a'), place, 5);
  const text = printJson({ ...first.json, 'x-later': ['kept'] });
  let view = parseViewMetadata(Buffer.from(text), 'test');
  view = replaceViewVersion(view, definition('select 2 a', { properties: { comment: 'x' } }), 4);
  assert.deepEqual([view.currentVersion.versionId, view.currentVersion.schemaId], [2, 0]);
  assert.equal(view.currentVersion.timestampMs, 5, 'time does not go backwards');
  view = replaceViewVersion(
    view,
    definition('select 3 b', { columns: [{ name: 'b', type: { kind: 'long' } }] }),
    9,
  );
  assert.deepEqual([view.currentVersion.versionId, view.currentVersion.schemaId], [3, 1]);
  assert.equal(view.viewUuid, place.viewUuid);
  assert.deepEqual(view.json['x-later'], ['kept']);
  assert.equal(view.properties.get('comment'), 'x');
});

test('old versions are forgotten beyond the number that the view asks for', () => {
  let view = newViewMetadata(
    definition('0', { properties: { 'version.history.num-entries': '2' } }),
    place,
    0,
  );
  for (let version = 1; version < 5; version++)
    view = replaceViewVersion(view, definition(`${version}`), version);
  const json = parseJson(printViewMetadata(view), 'test') as {
    versions: unknown[];
    'version-log': unknown[];
  };
  assert.deepEqual([json.versions.length, json['version-log'].length], [2, 2]);
  assert.equal(sqlOfView(view, viewDialect), '4');
});

test('what is no view is refused, naming the file', () => {
  const good = newViewMetadata(definition('1'), place, 0).json;
  const read = (changes: object) =>
    parseViewMetadata(Buffer.from(printJson({ ...good, ...changes })), 'v.json');
  assert.throws(() => read({ versions: [] }), /v\.json.*current version 1/);
  assert.throws(() => read({ schemas: [] }), /schema 0/);
  assert.throws(() => read({ 'view-uuid': null }), /view-uuid must be a string/);
  assert.throws(() => parseViewMetadata(Buffer.from('{'), 'v.json'), { code: 'DATA_CORRUPT' });
  assert.throws(() => newViewMetadata(definition('1', { representations: [] }), place, 0), /needs SQL/);
});

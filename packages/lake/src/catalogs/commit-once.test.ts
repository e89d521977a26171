import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { TableCommit } from '../iceberg/changes/table-change.js';
import { parseJson } from '../iceberg/spec/lossless-json.js';
import { tableMetadataOf } from '../iceberg/spec/parse-table-metadata.js';
import { tableJson } from '../iceberg/testing/table-json.js';
import { createFileStore } from '../storage/file-store.js';
import type { LoadedTable } from './catalog.js';
import { commitOnce } from './commit-once.js';

const identifier = { namespace: ['sales'], name: 'orders' };
const json = JSON.stringify(tableJson('s3://lake/orders'));
const table: LoadedTable = {
  identifier,
  metadata: tableMetadataOf(parseJson(json, 'test'), 'test'),
  metadataLocation: 's3://lake/orders/metadata/1.metadata.json',
  store: createFileStore(),
};
const unknown = new QueryError('COMMIT_OUTCOME_UNKNOWN', 'Lost.');

/** A catalog that loses the answer of a commit, and answers loads with these one after the other. */
function losing(...answers: readonly (LoadedTable | QueryError)[]) {
  const calls: string[] = [];
  return {
    calls,
    commitTable: async () => {
      calls.push('commit');
      throw unknown;
    },
    loadTable: async () => {
      const answer = answers[calls.filter((call) => call === 'load').length];
      calls.push('load');
      if (answer === undefined || answer instanceof QueryError) throw answer ?? unknown;
      return answer;
    },
  };
}

const creation = (uuid: string): TableCommit => ({
  requirements: [{ type: 'assert-create' }],
  updates: [{ action: 'assign-uuid', uuid }],
});

test('a table that was to be made is there if it has its identity, also when it is seen late', async () => {
  const down = new QueryError('CATALOG_ERROR', 'Down.');
  const catalog = losing(down, table);
  assert.equal(await commitOnce(catalog, identifier, creation(table.metadata.tableUuid)), table);
  assert.deepEqual(catalog.calls, ['commit', 'load', 'load']);
});

test("another writer's table of that name is not the one that was to be made", async () => {
  const catalog = losing(table, table, table);
  await assert.rejects(commitOnce(catalog, identifier, creation('another')), unknown);
  assert.deepEqual(catalog.calls, ['commit', 'load', 'load', 'load']);
});

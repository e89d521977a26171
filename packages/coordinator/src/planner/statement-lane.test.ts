import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatedQuery, JsonObject } from '@svc/sql';
import { statementLane } from './statement-lane.js';

const nothing: GatedQuery = {
  tables: [],
  fileReads: [],
  functions: new Set<string>(),
  hasVolatile: false,
  usesStatementValues: false,
  namesRowLineage: false,
  hasUnnamedColumns: false,
  parameters: [],
};

function laneOf(statement: JsonObject, gated: Partial<GatedQuery> = {}) {
  return statementLane({
    parsed: { sql: '', query: statement, statement },
    gated: { ...nothing, ...gated },
  });
}

const select = { node: { type: 'SELECT_NODE', from_table: { type: 'EMPTY' } } };

test('a computation on constants is small', () => {
  assert.equal(laneOf(select), 'small');
  assert.equal(laneOf(select, { functions: new Set(['upper', '+']) }), 'small');
});

test('whatever reads a table is a query', () => {
  assert.equal(laneOf(select, { tables: [{ table: 't' }] }), 'query');
});

test('whatever can make many rows of nothing is a query', () => {
  for (const type of ['JOIN', 'TABLE_FUNCTION', 'RECURSIVE_CTE_NODE'])
    assert.equal(
      laneOf({ node: { type: 'SELECT_NODE', from_table: { type: 'SUBQUERY', deep: [{ type }] } } }),
      'query',
    );
  assert.equal(laneOf(select, { functions: new Set(['unnest']) }), 'query');
});

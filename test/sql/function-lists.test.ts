import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { functionPolicy, typePolicy } from '@svc/sql';
import { openDuckDbParser } from './duckdb-parser.js';

const parser = openDuckDbParser();
after(() => parser.close());

/** Lower-case names of the pinned engine's functions of some types. */
function engineFunctions(types: string): ReadonlySet<string> {
  const names = parser.query(
    `SELECT to_json(list(DISTINCT lower(function_name)))::VARCHAR FROM duckdb_functions() WHERE function_type IN (${types})`,
  );
  return new Set(JSON.parse(names) as string[]);
}

describe('the function lists', () => {
  test('sort every scalar function, aggregate and macro of the engine', () => {
    const unsorted = [...engineFunctions("'scalar', 'aggregate', 'macro'")].filter(
      (name) => functionPolicy(name) === 'unknown',
    );
    assert.deepEqual(unsorted, []);
  });

  test('sort every table function of the engine', () => {
    const unsorted = [...engineFunctions("'table', 'table_macro'")].filter(
      (name) => functionPolicy(name, 'table') === 'unknown',
    );
    assert.deepEqual(unsorted, []);
  });

  test('sort every type of the engine', () => {
    const names = parser.query(
      'SELECT to_json(list(DISTINCT lower(type_name)))::VARCHAR FROM duckdb_types()',
    );
    const unsorted = (JSON.parse(names) as string[]).filter((name) => typePolicy(name) === 'unknown');
    assert.deepEqual(unsorted, []);
  });
});

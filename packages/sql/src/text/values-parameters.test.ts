import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valuesParameters } from './values-parameters.js';

const cases: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'VALUES (?, ?)': { 1: 0, 2: 1 },
  'values (?, f(1, ?), ?), (?, [1, 2], ?)': { 1: 0, 3: 2, 4: 0, 5: 2 },
  'VALUES ($2, $1, $Name, ? + 1)': { 1: 1, 2: 0, name: 2 },
  'VALUES ($1, $1)': { 1: 0 },
  "VALUES ('(', ?)": { 1: 1 },
  'VALUES ((?), ?)': { 2: 1 },
  'SELECT ?, ?': {},
};

for (const [sql, expected] of Object.entries(cases))
  test(`parameters that stand alone in ${sql}`, () => {
    assert.deepEqual(Object.fromEntries(valuesParameters(sql)), expected);
  });

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { checkDataFile } from './data-file.js';
import { openDuckDbParser } from './duckdb-parser.js';
import { verdict } from './verdict.js';

const root = path.resolve(import.meta.dirname, '../../..');
const testdata = path.join(root, 'packages/sql/testdata');
const tpch = path.join(root, 'bench/tpch/queries');

const parser = openDuckDbParser();
after(() => parser.close());

describe('the gate', () => {
  test('answers every statement of testdata/statements.txt as recorded', () => {
    const different = checkDataFile(path.join(testdata, 'statements.txt'), (sql) =>
      verdict(parser, sql, 'server'),
    );
    assert.deepEqual(different, []);
  });

  test('lets the embedded command line read files and nothing else more', () => {
    const different = checkDataFile(path.join(testdata, 'embedded.txt'), (sql) =>
      verdict(parser, sql, 'embedded'),
    );
    assert.deepEqual(different, []);
  });

  test('takes the 22 TPC-H statements and names their tables', () => {
    const different = checkDataFile(path.join(testdata, 'tpch.txt'), (file) =>
      verdict(parser, readFileSync(path.join(tpch, file), 'utf8'), 'server'),
    );
    assert.deepEqual(different, []);
  });
});

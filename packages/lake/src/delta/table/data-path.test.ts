import assert from 'node:assert/strict';
import { test } from 'node:test';
import { below, dataLocation } from './data-path.js';

test('relative paths are decoded once and lie below the table', () => {
  assert.equal(dataLocation('/t', 'p=a%2520b/x%23.parquet', 'log'), '/t/p=a%20b/x#.parquet');
  assert.equal(dataLocation('s3://b/t', 'p=%C3%BC/x', 'log'), 's3://b/t/p=ü/x');
  assert.equal(dataLocation('https://h/t', 'p=a%20b/x', 'log'), 'https://h/t/p%3Da%20b/x');
  assert.equal(below('/t', 'ab/%20', 'log'), '/t/ab/%20');
});

test('absolute paths are read where they are, in the storage of the table', () => {
  assert.equal(dataLocation('/t', '/other/a%20b', 'log'), '/other/a b');
  for (const path of ['file:/o/x', 'file:///o/x', 'file://localhost/o/x'])
    assert.equal(dataLocation('/t', path, 'log'), '/o/x');
  assert.equal(dataLocation('s3://b/t', 's3a://b/o/a%20b', 'log'), 's3://b/o/a b');
  assert.equal(dataLocation('https://h/t', 'https://h/o/a%20b', 'log'), 'https://h/o/a%20b');
});

test('a log makes nothing be opened in other storage', () => {
  const cases = [
    ['s3://b/t', '/etc/passwd'],
    ['s3://b/t', 'file:///etc/passwd'],
    ['s3://b/t', 's3://other/x'],
    ['https://h/t', 'https://h:81/x'],
    ['https://h/t', 'http://h/x'],
    ['/t', 's3://b/x'],
    ['/t', 'file://host/x'],
  ] as const;
  for (const [table, path] of cases)
    assert.throws(() => dataLocation(table, path, 'log 3'), { code: 'UNSUPPORTED_TABLE_FEATURE' }, path);
});

test('paths that lead out of the folder, or are no paths, are damage and named', () => {
  for (const path of ['../x', 'a/%2E%2E/x', 'a/../../x', '%00', '%', 'a%zz', '', '/a/../b'])
    assert.throws(
      () => dataLocation('/t', path, 'log 3'),
      { code: 'DATA_CORRUPT', message: /^log 3 names/ },
      path,
    );
});

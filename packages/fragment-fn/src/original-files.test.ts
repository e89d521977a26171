import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { namingOriginalFiles } from './original-files.js';
import type { StagedGroup } from './views/staged-group.js';

const pages = new QueryError('EVALUATION_ERROR', 'TProtocolException: Invalid data\n\nLINE 1: …');

describe('an error of the engine about a staged file', () => {
  it("names the table's file instead", () => {
    const error = new QueryError('DATA_CORRUPT', 'The Parquet file "staged0.parquet" is damaged.');
    assert.equal(
      namingOriginalFiles(error, groupOf(1)).message,
      'The Parquet file "/t/0.parquet" is damaged.',
    );
  });

  it('that names none is not the fault of the statement: the file is named when there is one', () => {
    const { code, message } = namingOriginalFiles(pages, groupOf(1));
    assert.deepEqual(
      [code, message],
      ['DATA_CORRUPT', 'The data file /t/0.parquet is damaged: TProtocolException: Invalid data'],
    );
  });

  it('that names none tells where to look when there are several', () => {
    assert.equal(
      namingOriginalFiles(pages, groupOf(5)).message,
      'One of the data files /t/0.parquet, /t/1.parquet, /t/2.parquet and 2 more is damaged: TProtocolException: Invalid data',
    );
  });

  it('is left alone when it is about a value, or no file was read', () => {
    const value = new QueryError(
      'EVALUATION_ERROR',
      "Could not convert string 'TProtocolException' to INT32",
    );
    assert.equal(namingOriginalFiles(value, groupOf(1)), value);
    assert.equal(namingOriginalFiles(pages, []), pages);
  });
});

function groupOf(count: number): readonly StagedGroup[] {
  const numbers = Array.from({ length: count }, (_none, index) => index);
  return [
    {
      sources: [],
      paths: numbers.map((index) => `/in/staged${index}.parquet`),
      locations: numbers.map((index) => `/t/${index}.parquet`),
    },
  ];
}

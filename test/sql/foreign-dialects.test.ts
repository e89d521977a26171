import assert from 'node:assert/strict';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { QueryError } from '@svc/base';
import { checkForeignQuery, type ForeignDialect, readSerializedSql, textOfDialect } from '@svc/sql';
import { checkDataFile } from './data-file.js';
import { openDuckDbParser, quoteText } from './duckdb-parser.js';

const testdata = path.resolve(import.meta.dirname, '../../../packages/sql/testdata');

const parser = openDuckDbParser();
after(() => parser.close());

describe('queries of other dialects', () => {
  test('are taken or refused as testdata/foreign.txt has recorded', () => {
    const different = checkDataFile(path.join(testdata, 'foreign.txt'), (input) => {
      const [, dialect = '', sql = ''] = /^(\w+)> (.*)$/s.exec(input) ?? [];
      return verdict(sql, dialect === 'spark' ? 'spark' : 'trino');
    });
    assert.deepEqual(different, []);
  });
});

function verdict(sql: string, dialect: ForeignDialect): string {
  try {
    const text = textOfDialect(sql, dialect);
    const parsed = readSerializedSql(
      text,
      parser.query(`SELECT json_serialize_sql(${quoteText(text)}::VARCHAR)`),
    );
    const { columnCount } = checkForeignQuery(parsed, dialect);
    return `${columnCount ?? '*'} columns: ${text}`;
  } catch (caught) {
    if (!(caught instanceof QueryError)) throw caught;
    return `refused ${caught.code}: ${caught.message}`;
  }
}

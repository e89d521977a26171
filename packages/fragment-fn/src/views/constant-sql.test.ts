import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IcebergType } from '@svc/lake';
import { constantSql } from './constant-sql.js';

describe('the SQL of a constant', () => {
  it('is the text of its JSON form, cast to the type by the engine', () => {
    const cases: readonly (readonly [unknown, IcebergType, string])[] = [
      [true, { kind: 'boolean' }, "CAST('true' AS BOOLEAN)"],
      ['-2147483648', { kind: 'int' }, "CAST('-2147483648' AS INTEGER)"],
      ['9223372036854775807', { kind: 'long' }, "CAST('9223372036854775807' AS BIGINT)"],
      ['1.5', { kind: 'float' }, "CAST('1.5' AS FLOAT)"],
      ['1e-300', { kind: 'double' }, "CAST('1e-300' AS DOUBLE)"],
      ['-14.20', { kind: 'decimal', precision: 9, scale: 2 }, "CAST('-14.20' AS DECIMAL(9,2))"],
      ['2017-11-16', { kind: 'date' }, "CAST('2017-11-16' AS DATE)"],
      ['22:31:08.123456', { kind: 'time' }, "CAST('22:31:08.123456' AS TIME)"],
      ['2017-11-16T22:31:08', { kind: 'timestamp' }, "CAST('2017-11-16T22:31:08' AS TIMESTAMP)"],
      [
        '2017-11-16T22:31:08.000001+00:00',
        { kind: 'timestamptz' },
        "CAST('2017-11-16T22:31:08.000001+00:00' AS TIMESTAMP WITH TIME ZONE)",
      ],
      ["it's; --", { kind: 'string' }, "CAST('it''s; --' AS VARCHAR)"],
      ['00010aFF', { kind: 'binary' }, "unhex('00010aFF')"],
      ['ff', { kind: 'fixed', length: 1 }, "unhex('ff')"],
      [7, { kind: 'long' }, "CAST('7' AS BIGINT)"],
      [2n ** 62n, { kind: 'long' }, "CAST('4611686018427387904' AS BIGINT)"],
    ];
    for (const [value, type, sql] of cases) assert.equal(constantSql(value, type), sql);
  });

  it('has the type of its column when it is NULL, nested ones included', () => {
    assert.equal(constantSql(null, { kind: 'binary' }), 'CAST(NULL AS BLOB)');
    assert.equal(constantSql(undefined, { kind: 'unknown' }), 'CAST(NULL AS INTEGER)');
    const list: IcebergType = {
      kind: 'list',
      elementId: 1,
      elementRequired: false,
      element: { kind: 'long' },
    };
    assert.equal(constantSql(null, list), 'CAST(NULL AS BIGINT[])');
  });

  it('is refused for values that are not single ones', () => {
    const struct: IcebergType = { kind: 'struct', fields: [] };
    assert.throws(() => constantSql({}, struct), {
      code: 'UNSUPPORTED_TABLE_FEATURE',
      message: /type struct/,
    });
  });
});

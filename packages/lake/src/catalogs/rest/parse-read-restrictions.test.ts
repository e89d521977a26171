import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '../../iceberg/spec/lossless-json.js';
import { parseReadRestrictions } from './parse-read-restrictions.js';

describe('read restrictions of a catalog', () => {
  test('that restrict nothing are none', () => {
    for (const json of [
      'null',
      '{}',
      '{"required-row-filter": null, "required-column-projections": []}',
      '{"required-row-filter": {"type": "true"}}',
      '{"required-row-filter": true}',
    ])
      assert.equal(parsed(json), undefined, json);
  });

  test('have the form with terms and the one with references', () => {
    const byName = {
      kind: 'comparison',
      operator: 'eq',
      column: { kind: 'name', name: 'region' },
      value: 'EU',
    };
    assert.deepEqual(
      parsed('{"required-row-filter": {"type": "eq", "term": "region", "value": "EU"}}')?.rowFilter,
      byName,
    );
    const byId = parsed(
      '{"required-row-filter": {"type": "eq", "left": {"type": "reference", "id": 14}, "right": {"type": "literal", "value": "EU"}}}',
    );
    assert.deepEqual(byId?.rowFilter, { ...byName, column: { kind: 'id', id: 14 } });
  });

  test('keep nested expressions, sets and the actions on columns', () => {
    const restrictions = parsed(`{
      "required-row-filter": {"type": "or",
        "left": {"type": "not", "child": {"type": "is-null", "term": {"type": "reference", "term": "a"}}},
        "right": {"type": "in", "term": "b", "values": ["x", "y"]}},
      "required-column-projections": [{"field-id": 3, "action": "mask-alphanum"}, {"field-id": 4, "action": "new"}]}`);
    assert.deepEqual(restrictions, {
      rowFilter: {
        kind: 'or',
        left: {
          kind: 'not',
          child: { kind: 'unary', operator: 'is-null', column: { kind: 'name', name: 'a' } },
        },
        right: { kind: 'set', operator: 'in', column: { kind: 'name', name: 'b' }, values: ['x', 'y'] },
      },
      columns: [
        { fieldId: 3, action: 'mask-alphanum' },
        { fieldId: 4, action: 'new' },
      ],
    });
  });

  test('that are newer than this reader stay unknown, and no value is named', () => {
    for (const filter of [
      '{"type": "like", "term": "a", "value": "secret"}',
      '{"type": "secret value"}',
      '{"type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "a"}, "value": 1}',
      '{"type": "eq", "term": "a", "value": {"secret": 1}}',
      '{"type": "in", "term": "a", "values": [null]}',
      '"secret"',
    ]) {
      const rowFilter = parsed(`{"required-row-filter": ${filter}}`)?.rowFilter;
      assert.ok(rowFilter?.kind === 'unknown', filter);
      assert.doesNotMatch(rowFilter.what, /secret/);
    }
    assert.equal(parsed('{"required-row-order": []}')?.rowFilter?.kind, 'unknown');
  });

  test('that make no sense are the error of the catalog', () => {
    for (const json of [
      '[]',
      '1',
      '{"required-column-projections": {}}',
      '{"required-column-projections": [{"action": "x"}]}',
    ])
      assert.throws(() => parsed(json), { code: 'CATALOG_ERROR', retryable: false }, json);
  });
});

function parsed(json: string) {
  return parseReadRestrictions(parseJson(json, 'test'), 'table "t"');
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type NestedField, parseJson, type ReadRestrictions, type RestrictionExpression } from '@svc/lake';
import { emptyMetadata } from '../test-support/empty-metadata.js';
import { catalogRestrictions } from './catalog-restrictions.js';
import type { TableDecision } from './policy.js';
import { bothDecisions } from './policy-enforcer.js';

const fields: readonly NestedField[] = [
  { id: 1, name: 'a"b', required: false, type: { kind: 'string' } },
  { id: 2, name: 'n', required: true, type: { kind: 'long' } },
  { id: 3, name: 'd', required: false, type: { kind: 'decimal', precision: 5, scale: 2 } },
  { id: 4, name: 'at', required: false, type: { kind: 'timestamptz' } },
  {
    id: 5,
    name: 's',
    required: false,
    type: { kind: 'struct', fields: [{ id: 6, name: 'inner', required: false, type: { kind: 'string' } }] },
  },
  { id: 7, name: 'x', required: false, type: { kind: 'double' } },
];

describe('restrictions of a catalog', () => {
  test('become SQL over quoted columns', () => {
    const cases: readonly (readonly [expression: RestrictionExpression, sql: string])[] = [
      [compare('eq', 1, '"it\'s"'), `("a""b" = 'it''s')`],
      [compare('gt-eq', 2, '9223372036854775807'), `("n" >= CAST('9223372036854775807' AS BIGINT))`],
      [compare('lt', 3, '"12.50"'), `("d" < CAST('12.50' AS DECIMAL(5, 2)))`],
      [
        compare('not-eq', 4, '"2024-05-06T07:08:09.123+00:00"'),
        `("at" <> CAST('2024-05-06T07:08:09.123+00:00' AS TIMESTAMPTZ))`,
      ],
      [compare('not-starts-with', 1, '"x%"'), `(NOT starts_with("a""b", 'x%'))`],
      [{ kind: 'unary', operator: 'not-nan', column: { kind: 'name', name: 'x' } }, `(NOT isnan("x"))`],
      [
        {
          kind: 'or',
          left: { kind: 'not', child: { kind: 'unary', operator: 'is-null', column: { kind: 'id', id: 5 } } },
          right: {
            kind: 'set',
            operator: 'in',
            column: { kind: 'id', id: 2 },
            values: [json('1'), json('2')],
          },
        },
        `((NOT ("s" IS NULL)) OR ("n" IN (CAST('1' AS BIGINT), CAST('2' AS BIGINT))))`,
      ],
      [{ kind: 'set', operator: 'in', column: { kind: 'id', id: 2 }, values: [] }, 'FALSE'],
    ];
    for (const [rowFilter, sql] of cases) {
      const decision = decided({ rowFilter });
      assert.ok(decision?.kind === 'restricted', sql);
      assert.deepEqual(decision.filters, [{ policy: 'catalog:read-restrictions', expression: sql }]);
    }
  });

  test('that are not understood refuse the table, naming what and no value', () => {
    const filters: readonly RestrictionExpression[] = [
      { kind: 'unknown', what: 'the predicate "like" of the row filter' },
      compare('eq', 99, '"secret"'),
      compare('eq', 2, '"secret"'),
      compare('eq', 3, '"1.234"'),
      compare('eq', 3, '"1234.5"'),
      compare('eq', 4, '"2024-05-06 secret"'),
      compare('starts-with', 2, '1'),
      { kind: 'unary', operator: 'is-nan', column: { kind: 'id', id: 1 } },
      { kind: 'unary', operator: 'is-null', column: { kind: 'id', id: 6 } },
      { kind: 'not', child: compare('eq', 5, '"secret"') },
    ];
    for (const rowFilter of filters) {
      const decision = decided({ rowFilter });
      assert.ok(decision?.kind === 'refused', JSON.stringify(rowFilter));
      assert.doesNotMatch(decision.reason, /secret|1\.234/);
    }
  });

  test('mask columns by field id, in lower case, and refuse actions that do not fit', () => {
    const masked = decided({
      columns: [
        { fieldId: 1, action: 'mask-alphanum' },
        { fieldId: 4, action: 'truncate-to-year' },
      ],
    });
    assert.deepEqual(masked?.kind === 'restricted' && [...masked.masks.keys()], ['a"b', 'at']);
    for (const [fieldId, action] of [
      [1, 'apply-expression'],
      [1, 'mask-unheard-of'],
      [2, 'mask-alphanum'],
      [2, 'replace-with-null'],
      [2, 'sha-256-global'],
      [5, 'mask-to-fixed-value'],
      [6, 'replace-with-null'],
      [98, 'replace-with-null'],
    ] as const)
      assert.equal(decided({ columns: [{ fieldId, action }] })?.kind, 'refused', action);
    const twice = [1, 1].map((fieldId) => ({ fieldId, action: 'replace-with-null' }));
    assert.equal(decided({ columns: twice })?.kind, 'refused');
  });

  test('do not mind a column that was dropped, unless another one has its name or its own time is read', () => {
    const masked = { columns: [{ fieldId: 99, action: 'replace-with-null' }] };
    assert.equal(decided(masked)?.kind, 'restricted');
    const reused = [...fields, { ...old, id: 100, name: 'OLD' }];
    assert.equal(decided(masked, { current: reused })?.kind, 'refused');
    // Then it is there, and is masked; one that is not there then may be under another id.
    const then = decided(masked, { read: [old] });
    assert.deepEqual(then?.kind === 'restricted' && [...then.masks.keys()], ['old']);
    const added = { columns: [{ fieldId: 1, action: 'replace-with-null' }] };
    assert.equal(decided(added, { read: [old] })?.kind, 'refused');
  });

  test('filter a former point by the columns that their names mean now', () => {
    const x = { id: 7, name: 'was_x', required: false, type: { kind: 'double' } } as const;
    const other = { id: 8, name: 'x', required: false, type: { kind: 'double' } } as const;
    const rowFilter = { kind: 'unary', operator: 'not-null', column: { kind: 'name', name: 'x' } } as const;
    const then = decided({ rowFilter }, { read: [x, other] });
    assert.deepEqual(then?.kind === 'restricted' && then.filters[0]?.expression, '("was_x" IS NOT NULL)');
    assert.equal(decided({ rowFilter }, { read: [other] })?.kind, 'refused');
    const former = { kind: 'unary', operator: 'not-null', column: { kind: 'name', name: 'was_x' } } as const;
    assert.equal(decided({ rowFilter: former }, { read: [x, other] })?.kind, 'refused');
  });

  test('hold together with the decision of policies', () => {
    const own = { policy: 'sql:p', expression: 'true' };
    const restricted: TableDecision = {
      kind: 'restricted',
      filters: [own],
      masks: new Map([['n', own]]),
      applied: ['sql:p'],
    };
    const demanded = decided({
      rowFilter: compare('eq', 2, '1'),
      columns: [{ fieldId: 1, action: 'replace-with-null' }],
    });
    const both = bothDecisions(restricted, demanded);
    assert.ok(both.kind === 'restricted');
    assert.deepEqual(
      [both.filters.length, [...both.masks.keys()], both.applied.length],
      [2, ['n', 'a"b'], 2],
    );
    assert.equal(bothDecisions({ kind: 'unrestricted' }, demanded), demanded);
    assert.equal(bothDecisions({ kind: 'refused', reason: 'r' }, demanded).kind, 'refused');
    assert.equal(bothDecisions(restricted, undefined), restricted);
    const clash = decided({ columns: [{ fieldId: 2, action: 'mask-to-fixed-value' }] });
    assert.equal(bothDecisions(restricted, clash).kind, 'refused');
  });
});

function json(text: string) {
  return parseJson(text, 'test');
}

function compare(
  operator: Extract<RestrictionExpression, { kind: 'comparison' }>['operator'],
  id: number,
  value: string,
): RestrictionExpression {
  return { kind: 'comparison', operator, column: { kind: 'id', id }, value: json(value) };
}

const old: NestedField = { id: 99, name: 'old', required: false, type: { kind: 'string' } };

function decided(
  restrictions: Partial<ReadRestrictions>,
  {
    current = fields,
    read = current,
  }: { current?: readonly NestedField[]; read?: readonly NestedField[] } = {},
) {
  const schemas = [
    { schemaId: 0, fields: [old], identifierFieldIds: [] },
    { schemaId: 1, fields: current, identifierFieldIds: [] },
  ];
  const readRestrictions = { rowFilter: undefined, columns: [], ...restrictions };
  const salt = Buffer.alloc(16, 7);
  const metadata = { ...emptyMetadata, schemas, currentSchemaId: 1 };
  return catalogRestrictions({ readRestrictions, metadata }, { fields: read, salt });
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classify } from './classify.js';
import { policyExpression } from './policy-expression.js';
import type { Statement } from './statement.js';

const table = { kind: 'relation', name: ['t'] } as const;

const cases: readonly (readonly [sql: string, statement: Statement])[] = [
  [
    "create policy eu on table lake.sales.orders row filter (region = 'EU') to analyst",
    {
      kind: 'create-policy',
      statementType: 'policy',
      name: 'eu',
      orReplace: false,
      on: { kind: 'relation', name: ['lake', 'sales', 'orders'] },
      rule: { kind: 'row-filter', expression: "region = 'EU'" },
      roles: ['analyst'],
      except: [],
    },
  ],
  [
    `CREATE OR REPLACE POLICY "No SSN" ON SCHEMA lake."a.b" COLUMN MASK "Ssn" (/* all */ concat('***)', right(ssn, 4)) -- )
     ) TO public, 'data engineer', Analyst EXCEPT ROLE hr, "Legal"`,
    {
      kind: 'create-policy',
      statementType: 'policy',
      name: 'No SSN',
      orReplace: true,
      on: { kind: 'schema', name: ['lake', 'a.b'] },
      rule: { kind: 'column-mask', column: 'Ssn', expression: "concat('***)', right(ssn, 4))" },
      roles: ['PUBLIC', 'data engineer', 'Analyst'],
      except: ['hr', 'Legal'],
    },
  ],
  ['drop policy eu', { kind: 'drop-policy', statementType: 'policy', name: 'eu', ifExists: false }],
  ['drop policy if exists eu', { kind: 'drop-policy', statementType: 'policy', name: 'eu', ifExists: true }],
  [
    'grant insert, select on t to role a, b',
    {
      kind: 'grant',
      statementType: 'policy',
      privileges: ['SELECT', 'INSERT'],
      on: table,
      roles: ['a', 'b'],
    },
  ],
  [
    "revoke all privileges on schema lake.s from role 'a', role public",
    {
      kind: 'revoke',
      statementType: 'policy',
      privileges: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
      on: { kind: 'schema', name: ['lake', 's'] },
      roles: ['a', 'PUBLIC'],
    },
  ],
  ['show policies', { kind: 'show-policies', statementType: 'utility' }],
  ['show policies on t', { kind: 'show-policies', statementType: 'utility', on: table }],
  [
    'show grants on schema s',
    { kind: 'show-grants', statementType: 'utility', on: { kind: 'schema', name: ['s'] } },
  ],
  ['show grants on view t', { kind: 'show-grants', statementType: 'utility', on: table }],
  [
    'grant select on schema.t to role role',
    {
      kind: 'grant',
      statementType: 'policy',
      privileges: ['SELECT'],
      on: { kind: 'relation', name: ['schema', 't'] },
      roles: ['role'],
    },
  ],
];

/** A statement that does not parse, and what its error says would be right. */
const wrong: readonly (readonly [sql: string, says: RegExp])[] = [
  ['create policy p on t row filter (a) to r', /expected SCHEMA, TABLE or VIEW/],
  ['create policy if not exists p on table t row filter (a) to r', /CREATE OR REPLACE POLICY/],
  ['create policy p on table t row filter a = 1 to r', /expression in brackets/],
  ['create policy p on table t row filter () to r', /expected an expression/],
  ['create policy p on table t row filter (a = 1 to r', /never closed/],
  ['create policy p on table t row filter ((a[1)]) to r', /does not close/],
  ['create policy p on table t row filter (a = $1) to r', /no parameters/],
  ['create policy p on table t column mask a.b (1) to r', /whole column/],
  ['create policy p on table t mask a (1) to r', /ROW FILTER \(expression\) or COLUMN MASK/],
  ['create policy p on table t row filter (a)', /expected TO and the roles/],
  ['create policy p on table t row filter (a) to r except public', /would except everybody/],
  ["create policy p on table t row filter (a) to ''", /role is empty/],
  ['create policy p on table t row filter (a) to r, ', /name of a role/],
  ['drop policy p on t', /name of a policy is enough/],
  ['grant read on t to role r', /SELECT, INSERT, UPDATE, DELETE or ALL/],
  ['grant select on t to r', /expected TO ROLE/],
  ['revoke select on t to role r', /expected FROM ROLE/],
  ['grant select on all tables in schema s to role r', /ON SCHEMA/],
  ['grant select on a.b.c.d to role r', /more than 3 parts/],
  ['show policies t', /end of the statement/],
];

describe('statements about policies', () => {
  for (const [sql, statement] of cases)
    test(`takes ${sql} apart`, () => assert.deepEqual(classify(sql), statement));

  for (const [sql, says] of wrong)
    test(`says what would be right instead of ${sql}`, () =>
      assert.throws(() => classify(sql), { code: 'SYNTAX_ERROR', message: says }));

  test('knows what other systems have and this one has not', () => {
    for (const sql of [
      'grant admin to bob',
      'grant select (a) on t to role r',
      'grant select on t to role r with grant option',
      'revoke grant option for select on t from role r',
    ])
      assert.equal(classify(sql).kind, 'unsupported', sql);
  });

  test('takes an expression of a file only if it is one', () => {
    assert.equal(policyExpression(" a = 'x)' -- why "), "a = 'x)'");
    for (const text of ['', 'true) or (true', 'a; b', 'a = ?', '(a', '--'])
      assert.throws(() => policyExpression(text), { code: 'SYNTAX_ERROR' }, text);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide, mayList } from './decide.js';
import { type IndexedPolicies, indexPolicies } from './index-policies.js';
import {
  type Policy,
  type PolicyIdentity,
  type PolicySet,
  type PolicyTarget,
  type PrivilegeGrant,
  privileges,
  type TableDecision,
} from './policy.js';

const schema = { catalog: 'lake', schema: 'sales' };
const orders = { ...schema, table: 'orders' };

describe('decisions about tables', () => {
  test('follow the default where nothing names a table', () => {
    assert.equal(kind(rules({}), ['a']), 'unrestricted');
    assert.equal(kind(rules({ default: 'deny' }), ['a']), 'refused');
  });

  test('combine all filters and masks of the roles, on the table and on its schema', () => {
    const decision = decisionOf(
      rules({
        policies: [
          filter('p', { roles: ['a'] }),
          filter('q', { roles: ['b'], target: schema }),
          mask('m', 'Ssn', 'NULL', { roles: ['PUBLIC'] }),
          filter('other', { roles: ['c'] }),
        ],
      }),
      ['a', 'b'],
    );
    assert.ok(decision.kind === 'restricted');
    assert.deepEqual(decision.filters, [
      { policy: 'sql:q', expression: 'q' },
      { policy: 'sql:p', expression: 'p' },
    ]);
    assert.deepEqual([...decision.masks], [['ssn', { policy: 'sql:m', expression: 'NULL' }]]);
    assert.deepEqual(decision.applied, ['sql:q', 'sql:p', 'sql:m']);
  });

  test('hold for a table however its name is written', () => {
    const target = { catalog: 'LAKE', schema: 'Sales', table: 'ORDERS' };
    assert.equal(kind(rules({ policies: [filter('p', { target })] }), ['a']), 'restricted');
  });

  test('refuse what the catalog may take for a table or schema that they name, unless they name it too', () => {
    const cafe = { catalog: 'lake', schema: 'Straße', table: 'cafe' };
    const set = { policies: [filter('p', { target: cafe, roles: ['a'] })] };
    const kindOf = (target: PolicyTarget, more: readonly Policy[] = []) =>
      decide(rules({ policies: [...set.policies, ...more] }), identity(['a']), target, 'SELECT').kind;
    assert.equal(kindOf(cafe), 'restricted');
    for (const table of ['café', 'cafe\u0301', 'ｃａｆｅ', 'ca\u00adfe', 'cafe ', 'CAFÈ'])
      assert.equal(kindOf({ ...cafe, table }), 'refused', table);
    assert.equal(kindOf({ ...cafe, schema: 'strasse' }), 'refused');
    assert.equal(kindOf({ ...cafe, table: 'cafes' }), 'unrestricted');
    const accented = { ...cafe, table: 'café' };
    assert.equal(kindOf(accented, [filter('q', { target: accented, roles: ['a'] })]), 'restricted');
    const inSchema = [filter('s', { target: { catalog: 'lake', schema: 'Größe' }, roles: ['a'] })];
    assert.equal(kindOf({ catalog: 'lake', schema: 'Große', table: 't' }, inSchema), 'refused');
    assert.equal(kindOf({ catalog: 'lake', schema: 'Größe', table: 't' }, inSchema), 'restricted');
  });

  test('refuse names in which a catalog reads more than a name', () => {
    const set = rules({
      policies: [filter('p'), filter('q', { target: { catalog: 'lake', schema: 'inner.one' } })],
    });
    const kindOf = (schema: string, table: string) =>
      privileges.map((each) => decide(set, identity(['a']), { catalog: 'lake', schema, table }, each).kind);
    for (const [inSchema, table] of [
      ['sales', 'orders@main'],
      ['sales', 'orders#hash'],
      ['sales', '`orders`@ref'],
      ['sales@main', 'orders'],
      ['@hive#sales', 'orders'],
      ['other', '../sales/orders'],
      ['inner@main.one', 't'],
      ['inner', 'one/t'],
      ['inner', 'one.t@main'],
    ] as const)
      assert.deepEqual(new Set(kindOf(inSchema, table)), new Set(['refused']), `${inSchema} ${table}`);
    for (const table of ['lines@main', 'orders2@main', 'a/orders'])
      assert.deepEqual(new Set(kindOf('sales', table)), new Set(['unrestricted']), table);
    assert.ok(!mayList(set, identity(['a']), { ...schema, table: 'orders@main' }));
    const named = { ...orders, table: 'orders@main' };
    const own = rules({ policies: [filter('p')], grants: [grant('SELECT', 'a', named)] });
    assert.equal(decide(own, identity(['a']), named, 'SELECT').kind, 'unrestricted');
  });

  test('do not hold for tables of other schemas and names', () => {
    for (const target of [
      { ...orders, table: 'orders2' },
      { ...orders, schema: 'sales2' },
      { ...orders, catalog: 'lake2' },
      { catalog: 'lake', schema: 'sales.eu' },
    ])
      assert.equal(kind(rules({ policies: [filter('p', { target, roles: ['z'] })] }), ['a']), 'unrestricted');
  });

  test('refuse a table with filters or masks to whom none is for', () => {
    const set = rules({ policies: [filter('p', { roles: ['a'] })] });
    assert.equal(kind(set, ['b']), 'refused');
    assert.equal(kind(set, []), 'refused');
    assert.equal(kind(rules({ policies: [mask('m', 'c', '1', { roles: ['a'] })] }), ['b']), 'refused');
  });

  test('show everything to whom a policy excepts, and no less to whom it excepts among others', () => {
    const p = filter('p', { roles: ['a', 'PUBLIC'], except: ['boss'] });
    const open = { kind: 'restricted', filters: [], masks: new Map(), applied: [] };
    assert.deepEqual(decisionOf(rules({ policies: [p] }), ['boss']), open);
    assert.deepEqual(decisionOf(rules({ policies: [p] }), ['a', 'boss']), open);
    const both = decisionOf(rules({ policies: [p, filter('q', { roles: ['PUBLIC'] })] }), ['boss']);
    assert.deepEqual(both.kind === 'restricted' && both.applied, ['sql:q']);
  });

  test('compare roles exactly', () => {
    assert.equal(kind(rules({ policies: [filter('p', { roles: ['Analyst'] })] }), ['analyst']), 'refused');
  });

  test('refuse two different masks of one column, naming both', () => {
    const set = (second: string) =>
      rules({ policies: [mask('m', 'c', '1'), mask('n', 'C', second, { origin: 'rules-file' })] });
    const decision = decisionOf(set('2'), ['a']);
    assert.ok(decision.kind === 'refused');
    assert.match(decision.reason, /sql:m and rules-file:n/);
    assert.equal(kind(set('1'), ['a']), 'restricted');
  });

  test('need a grant where any names the table or its schema', () => {
    const set = rules({ grants: [grant('SELECT', 'a'), grant('INSERT', 'b', schema)] });
    const allowed = (roles: string[]) =>
      privileges.filter((each) => decide(set, identity(roles), orders, each).kind !== 'refused');
    assert.deepEqual(
      [allowed(['a']), allowed(['b']), allowed(['a', 'b']), allowed(['c'])],
      [['SELECT'], ['INSERT'], ['SELECT', 'INSERT'], []],
    );
    assert.equal(kind(rules({ grants: [grant('SELECT', 'PUBLIC')], default: 'deny' }), []), 'unrestricted');
  });

  test('need a grant and a policy where there are both, and no grant where there is none', () => {
    const policies = [filter('p', { roles: ['a'] })];
    assert.equal(kind(rules({ policies, grants: [grant('SELECT', 'a')] }), ['a']), 'restricted');
    assert.equal(kind(rules({ policies, grants: [grant('SELECT', 'b')] }), ['a']), 'refused');
    assert.equal(kind(rules({ policies, grants: [grant('SELECT', 'b')] }), ['b']), 'refused');
    assert.equal(kind(rules({ policies, default: 'deny' }), ['a']), 'restricted');
  });

  test('list what an identity may do anything with', () => {
    const set = rules({
      grants: [grant('DELETE', 'a')],
      policies: [filter('p', { target: { ...orders, table: 'x' } })],
    });
    const listed = (roles: string[], target: typeof schema) => mayList(set, identity(roles), target);
    assert.ok(listed(['a'], orders));
    assert.ok(!listed(['b'], orders));
    assert.ok(listed(['b'], { ...schema, table: 'unnamed' } as typeof schema));
    assert.ok(listed(['b'], schema));
    assert.ok(!mayList(rules({ grants: [grant('SELECT', 'a')], default: 'deny' }), identity(['b']), schema));
    assert.ok(mayList(rules({ grants: [grant('SELECT', 'a')], default: 'deny' }), identity(['a']), schema));
    assert.ok(!mayList(rules({ grants: [grant('SELECT', 'a', schema)] }), identity(['b']), schema));
  });

  test('list a schema where the identity may do something with a table that is there or could be', () => {
    const inner = grant('SELECT', 'a');
    const outer = grant('SELECT', 'a', schema);
    const masked = filter('p', { roles: ['b'] });
    const hidden = filter('q', { roles: ['c'], target: schema });
    const listed = (set: Partial<PolicySet>, role: string) => mayList(rules(set), identity([role]), schema);
    // Other tables of the schema are everybody's.
    assert.ok(listed({ grants: [inner] }, 'b'));
    assert.ok(!listed({ grants: [inner, outer] }, 'b'));
    assert.ok(listed({ grants: [outer] }, 'a'));
    assert.ok(listed({ grants: [inner], default: 'deny' }, 'a'));
    assert.ok(!listed({ grants: [inner], default: 'deny' }, 'b'));
    assert.ok(!listed({ default: 'deny' }, 'a'));
    // A filter for a role is no privilege where grants name others.
    assert.ok(!listed({ grants: [inner, outer], policies: [masked] }, 'b'));
    assert.ok(listed({ policies: [masked], default: 'deny' }, 'b'));
    assert.ok(!listed({ policies: [hidden] }, 'b'));
    assert.ok(listed({ policies: [hidden] }, 'c'));
    assert.ok(listed({ policies: [hidden, masked] }, 'b'));
    assert.ok(listed({ grants: [grant('DELETE', 'PUBLIC')], default: 'deny' }, 'b'));
  });

  test('look at the rules of one table only, and among them at those of the own roles', () => {
    let looked = 0;
    const policies = Array.from({ length: 10_000 }, (_each, index) => {
      const target = { ...schema, table: `t${index % 100}` };
      const policy = filter(`p${index}`, { target, roles: [`r${index % 1000}`] });
      Object.defineProperty(policy, 'rule', {
        get: () => {
          looked++;
          return { kind: 'row-filter', expression: 'true' };
        },
      });
      return policy;
    });
    const set = rules({ policies });
    assert.equal(decide(set, identity(['r7']), { ...schema, table: 't7' }, 'SELECT').kind, 'restricted');
    assert.equal(decide(set, identity(['r7']), orders, 'SELECT').kind, 'unrestricted');
    assert.ok(looked <= 3 * 10, `${looked}`);
  });
});

function rules(set: Partial<PolicySet>): IndexedPolicies {
  return indexPolicies({ version: 'v', policies: [], grants: [], default: 'allow', ...set });
}

function filter(name: string, policy: Partial<Policy> = {}): Policy {
  const rule = { kind: 'row-filter', expression: name } as const;
  return { name, origin: 'sql', target: orders, rule, roles: ['a'], except: [], ...policy };
}

function mask(name: string, column: string, expression: string, policy: Partial<Policy> = {}): Policy {
  return filter(name, { rule: { kind: 'column-mask', column, expression }, ...policy });
}

function grant(
  privilege: PrivilegeGrant['privilege'],
  role: string,
  target = orders as typeof schema,
): PrivilegeGrant {
  return { privilege, target, role, origin: 'sql' };
}

function identity(roles: readonly string[]): PolicyIdentity {
  return { username: 'u', roles, isNameVerified: true };
}

function decisionOf(set: IndexedPolicies, roles: readonly string[]): TableDecision {
  return decide(set, identity(roles), orders, 'SELECT');
}

function kind(set: IndexedPolicies, roles: readonly string[]): TableDecision['kind'] {
  return decisionOf(set, roles).kind;
}

/** CREATE POLICY, DROP POLICY, GRANT, REVOKE, SHOW POLICIES and SHOW GRANTS. */
import type { Cursor } from './cursor.js';
import { parseBracketedExpression } from './policy-expression.js';
import { parseExceptedRoles, parseRoles } from './policy-roles.js';
import type {
  ChangeGrants,
  CreatePolicy,
  DropPolicy,
  ShowGrants,
  ShowPolicies,
  WrittenPrivilege,
  WrittenRule,
  WrittenTarget,
} from './policy-statements.js';
import { unsupported } from './refusals.js';
import type { Statement } from './statement.js';

/**
 * `CREATE [OR REPLACE] POLICY p ON {SCHEMA s | TABLE t | VIEW v} {ROW FILTER (expr) | COLUMN MASK c (expr)} TO role[, …] [EXCEPT role[, …]]`,
 * from behind POLICY.
 */
export function parseCreatePolicy(cursor: Cursor, orReplace: boolean): CreatePolicy {
  if (cursor.sees('IF', 'NOT', 'EXISTS'))
    throw cursor.error('there is no CREATE POLICY IF NOT EXISTS: write CREATE OR REPLACE POLICY');
  const name = cursor.identifier('a policy');
  if (!cursor.accept('ON')) throw cursor.error('expected ON and SCHEMA or TABLE with its name');
  if (!seesObjectWord(cursor)) throw cursor.error('expected SCHEMA, TABLE or VIEW and its name');
  const on = parseTarget(cursor);
  const rule = parseRule(cursor);
  if (!cursor.accept('TO'))
    throw cursor.error('expected TO and the roles that the policy is for (PUBLIC is everybody)');
  const roles = parseRoles(cursor);
  const except = parseExceptedRoles(cursor);
  cursor.expectEnd();
  return { kind: 'create-policy', statementType: 'policy', name, orReplace, on, rule, roles, except };
}

function parseRule(cursor: Cursor): WrittenRule {
  if (cursor.accept('ROW', 'FILTER'))
    return { kind: 'row-filter', expression: parseBracketedExpression(cursor) };
  if (!cursor.accept('COLUMN', 'MASK'))
    throw cursor.error('expected ROW FILTER (expression) or COLUMN MASK column (expression)');
  const column = cursor.identifier('a column');
  if (cursor.sees('.')) throw cursor.error('only a whole column can be masked, not a field inside of one');
  return { kind: 'column-mask', column, expression: parseBracketedExpression(cursor) };
}

/** `DROP POLICY [IF EXISTS] p`, from behind POLICY. */
export function parseDropPolicy(cursor: Cursor): DropPolicy {
  const ifExists = cursor.accept('IF', 'EXISTS');
  const name = cursor.identifier('a policy');
  if (cursor.sees('ON'))
    throw cursor.error('the name of a policy is enough, as each is there once: DROP POLICY name');
  cursor.expectEnd();
  return { kind: 'drop-policy', statementType: 'policy', name, ifExists };
}

/** `GRANT privilege[, …] ON {SCHEMA s | [TABLE | VIEW] t} TO ROLE r[, …]`. */
export function parseGrant(cursor: Cursor): Statement {
  return parseGrants(cursor, 'GRANT');
}

/** `REVOKE privilege[, …] ON {SCHEMA s | [TABLE | VIEW] t} FROM ROLE r[, …]`. */
export function parseRevoke(cursor: Cursor): Statement {
  return parseGrants(cursor, 'REVOKE');
}

function parseGrants(cursor: Cursor, verb: 'GRANT' | 'REVOKE'): Statement {
  cursor.expect(verb);
  if (cursor.sees('GRANT', 'OPTION')) return unsupported('policy', 'REVOKE GRANT OPTION');
  const privileges = parsePrivileges(cursor);
  if (privileges === undefined) return unsupported('policy', `${verb} of a role`);
  if (cursor.sees('(')) return unsupported('policy', `${verb} on single columns (COLUMN MASK hides them)`);
  if (!cursor.accept('ON')) throw cursor.error('expected ON and SCHEMA, TABLE or VIEW with its name');
  if (cursor.sees('ALL')) throw cursor.error('all tables of a schema are meant by ON SCHEMA and its name');
  const on = parseTarget(cursor);
  const preposition = verb === 'GRANT' ? 'TO' : 'FROM';
  if (!cursor.accept(preposition, 'ROLE'))
    throw cursor.error(`expected ${preposition} ROLE and its name: privileges are of roles`);
  const roles = parseRoles(cursor);
  if (cursor.sees('WITH', 'GRANT', 'OPTION')) return unsupported('policy', 'GRANT … WITH GRANT OPTION');
  cursor.expectEnd();
  const kind = verb === 'GRANT' ? 'grant' : 'revoke';
  return { kind, statementType: 'policy', privileges, on, roles } satisfies ChangeGrants;
}

const privilegeWords: readonly WrittenPrivilege[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Undefined for `GRANT admin TO bob`: who has which role is the identity provider's to say. */
function parsePrivileges(cursor: Cursor): readonly WrittenPrivilege[] | undefined {
  if (cursor.accept('ALL')) {
    cursor.accept('PRIVILEGES');
    return privilegeWords;
  }
  const named = new Set<WrittenPrivilege>();
  do {
    const word = privilegeWords.find((each) => cursor.accept(each));
    if (word === undefined) {
      const isRole =
        named.size === 0 &&
        (cursor.tokens.is(cursor.index + 1, 'TO') || cursor.tokens.is(cursor.index + 1, 'FROM'));
      if (isRole) return undefined;
      throw cursor.error(`expected a privilege: ${privilegeWords.join(', ')} or ALL`);
    }
    named.add(word);
  } while (cursor.accept(','));
  return privilegeWords.filter((each) => named.has(each));
}

/** `SHOW POLICIES | GRANTS [ON {SCHEMA s | [TABLE | VIEW] t}]`, from behind the word. */
export function parseShowRules(
  cursor: Cursor,
  kind: 'show-policies' | 'show-grants',
): ShowPolicies | ShowGrants {
  const on = cursor.accept('ON') ? parseTarget(cursor) : undefined;
  cursor.expectEnd();
  return { kind, statementType: 'utility', ...(on !== undefined && { on }) };
}

const objectWords: ReadonlySet<string> = new Set(['SCHEMA', 'TABLE', 'VIEW']);

/** Whether a name follows; without one the word is itself the name of a table. */
function seesObjectWord({ tokens, index }: Cursor): boolean {
  const next = index + 1;
  return (
    [...objectWords].some((word) => tokens.is(index, word)) && !tokens.is(next, '.') && next < tokens.count
  );
}

function parseTarget(cursor: Cursor): WrittenTarget {
  if (seesObjectWord(cursor)) {
    const word = cursor.words(1);
    cursor.index++;
    if (word === 'SCHEMA') return { kind: 'schema', name: cursor.name('a schema', 2) };
  }
  return { kind: 'relation', name: cursor.name('a table or view', 3) };
}

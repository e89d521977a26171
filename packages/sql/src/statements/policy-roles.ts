import { stringValue } from '../text/literals.js';
import { tokenKinds } from '../text/token-list.js';
import type { Cursor } from './cursor.js';

const everybody = 'PUBLIC';

/** `role[, …]`: identifiers or strings, exact; the word PUBLIC is everybody's. Each once. */
export function parseRoles(cursor: Cursor): readonly string[] {
  const roles = new Set<string>();
  do roles.add(parseRole(cursor));
  while (cursor.accept(','));
  return [...roles];
}

/** Everybody excepted is nobody restricted: whoever writes that means something else. */
export function parseExceptedRoles(cursor: Cursor): readonly string[] {
  if (!cursor.accept('EXCEPT')) return [];
  const start = cursor.index;
  const roles = parseRoles(cursor);
  if (roles.includes(everybody)) {
    cursor.index = start;
    throw cursor.error('EXCEPT PUBLIC would except everybody: name the roles that the policy is not for');
  }
  return roles;
}

function parseRole(cursor: Cursor): string {
  if (cursor.sees('ROLE') && namesRole(cursor, cursor.index + 1)) cursor.index++;
  if (cursor.sees(everybody)) {
    cursor.index++;
    return everybody;
  }
  if (!cursor.seesString) return cursor.identifier('a role');
  const role = stringValue(cursor.tokens, cursor.index);
  if (role === undefined || role === '') throw cursor.error('the name of a role is empty');
  cursor.index++;
  return role;
}

/** `TO ROLE analyst` names analyst, `TO role, analyst` a role called "role". */
function namesRole({ tokens }: Cursor, index: number): boolean {
  const kind = tokens.kind(index);
  if (kind === tokenKinds.word) return !tokens.is(index, 'EXCEPT') && !tokens.is(index, 'WITH');
  return kind === tokenKinds.string || kind === tokenKinds.quoted;
}

import { abbreviate } from '../text/abbreviate.js';
import type { Cursor } from './cursor.js';
import { notAllowed } from './refusals.js';
import type { Statement } from './statement.js';

/** CALL system.refresh_catalog_cache(); no other procedure may be called. */
export function parseCall(cursor: Cursor): Statement {
  cursor.expect('CALL');
  const name = cursor.name('a procedure', 3).join('.').toLowerCase();
  if (name !== 'system.refresh_catalog_cache') return notAllowed(`CALL ${abbreviate(name)}`);
  cursor.expect('(');
  if (!cursor.accept(')')) throw cursor.error('system.refresh_catalog_cache takes no arguments');
  cursor.expectEnd();
  return { kind: 'call', statementType: 'utility', procedure: 'refresh_catalog_cache' };
}

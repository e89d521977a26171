import { identifierValue, stringValue } from '../text/literals.js';
import { tokenKinds } from '../text/token-list.js';
import type { Cursor } from './cursor.js';
import { notAllowed } from './refusals.js';
import type { Statement } from './statement.js';

/** USE [catalog.]schema. */
export function parseUse(cursor: Cursor): Statement {
  cursor.expect('USE');
  const name = cursor.name('a catalog or schema', 2);
  cursor.expectEnd();
  return { kind: 'use', statementType: 'utility', name };
}

/** SET [SESSION] name =|TO value and SET TIME ZONE value; only the time zone and `svc.*` session options. */
export function parseSet(cursor: Cursor): Statement {
  cursor.expect('SET');
  const name = parseOption(cursor);
  if (name === undefined) return refused('SET', cursor);
  if (name.viaTimeZone || cursor.accept('=') || cursor.accept('TO')) {
    if (cursor.accept('DEFAULT')) {
      cursor.expectEnd();
      return { kind: 'reset', statementType: 'utility', name: name.option };
    }
    const value = parseValue(cursor);
    cursor.expectEnd();
    return { kind: 'set', statementType: 'utility', name: name.option, value };
  }
  throw cursor.error(`expected = and the value of ${name.option}`);
}

/** RESET [SESSION] name and RESET TIME ZONE. */
export function parseReset(cursor: Cursor): Statement {
  cursor.expect('RESET');
  const name = parseOption(cursor);
  if (name === undefined) return refused('RESET', cursor);
  cursor.expectEnd();
  return { kind: 'reset', statementType: 'utility', name: name.option };
}

interface OptionName {
  readonly option: string;
  readonly viaTimeZone: boolean;
}

/** The option's name when users may set it; undefined (and no step) when not. */
function parseOption(cursor: Cursor): OptionName | undefined {
  if (cursor.sees('SESSION') && !cursor.tokens.is(cursor.index + 1, '=')) cursor.index++;
  if (cursor.accept('TIME', 'ZONE')) return { option: 'timezone', viaTimeZone: true };
  const first = identifierValue(cursor.tokens, cursor.index)?.toLowerCase();
  if (first === 'timezone' && !cursor.tokens.is(cursor.index + 1, '.')) {
    cursor.index++;
    return { option: 'timezone', viaTimeZone: false };
  }
  if (first !== 'svc' || !cursor.tokens.is(cursor.index + 1, '.')) return undefined;
  const parts = cursor.name('a session option', 4);
  return { option: parts.join('.').toLowerCase(), viaTimeZone: false };
}

function refused(verb: string, cursor: Cursor): Statement {
  const option = cursor.words(1).toLowerCase();
  return notAllowed(
    `${verb}${option === '' ? '' : ` of "${option}"`} (only TimeZone and the svc.* session options may be changed)`,
  );
}

function parseValue(cursor: Cursor): string {
  const text = stringValue(cursor.tokens, cursor.index);
  const sign = text === undefined && cursor.accept('-') ? '-' : '';
  const kind = cursor.tokens.kind(cursor.index);
  const plain = kind === tokenKinds.number || (sign === '' && kind === tokenKinds.word);
  if (text === undefined && !plain) throw cursor.error('expected a string, a number or a word as the value');
  const value = text ?? sign + cursor.tokens.text(cursor.index);
  cursor.index++;
  return value;
}

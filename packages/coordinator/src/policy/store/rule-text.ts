/** From the bytes of a file or object to a document. Nothing that is wrong with them is passed over: a rule that got lost would not hold. */
import { parseTomlDocument } from '@svc/base';
import { ruleError, shownName } from './rule-fields.js';

/** A mark of the byte order is no part of it. Throws CONFIGURATION_ERROR. */
export function ruleText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw ruleError(source, '', 'it is not text in UTF-8');
  }
}

/** Throws CONFIGURATION_ERROR, which quotes nothing. */
export function parseRuleToml(bytes: Uint8Array, path: string): unknown {
  const parsed = parseTomlDocument({ path, text: ruleText(bytes, path) });
  if (parsed.kind === 'syntax-error') throw ruleError(path, '', `it is not TOML: ${parsed.message}`);
  return parsed.document;
}

/** Throws CONFIGURATION_ERROR also for a key that is twice in an object, of which JSON.parse takes the last. */
export function parseRuleJson(bytes: Uint8Array, source: string): unknown {
  const text = ruleText(bytes, source);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw ruleError(source, '', 'it is not JSON');
  }
  const doubled = doubledKey(text);
  if (doubled !== undefined)
    throw ruleError(source, `line ${doubled.line}`, `the key ${shownName(doubled.key)} is there twice`);
  return document;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

/** Of text that is JSON. */
function doubledKey(text: string): { readonly key: string; readonly line: number } | undefined {
  /** The keys of the objects around; an array has none. */
  const around: (Set<string> | undefined)[] = [];
  let start = 0;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        start = at;
        end = endOfString(text, at);
        at = end;
        break;
      case colon: {
        const key = keyOf(text.slice(start + 1, end));
        const keys = around.at(-1);
        if (keys?.has(key) === true) return { key, line: text.slice(0, at).split('\n').length };
        keys?.add(key);
        break;
      }
      case openBrace:
        around.push(new Set());
        break;
      case openBracket:
        around.push(undefined);
        break;
      case closeBrace:
      case closeBracket:
        around.pop();
        break;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; text.charCodeAt(at) !== quote; at++) if (text.charCodeAt(at) === backslash) at++;
  return at;
}

function keyOf(written: string): string {
  return written.includes('\\') ? JSON.parse(`"${written}"`) : written;
}

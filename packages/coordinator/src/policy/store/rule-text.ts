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

/** Of text that is JSON. */
function doubledKey(text: string): { readonly key: string; readonly line: number } | undefined {
  /** The keys of the objects around; an array has none. */
  const around: (Set<string> | undefined)[] = [];
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const start = at;
        for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
        lastString = text.slice(start, at + 1);
        break;
      }
      case ':': {
        const key: string = JSON.parse(lastString);
        const keys = around.at(-1);
        if (keys?.has(key) === true) return { key, line: text.slice(0, at).split('\n').length };
        keys?.add(key);
        break;
      }
      case '{':
        around.push(new Set());
        break;
      case '[':
        around.push(undefined);
        break;
      case '}':
      case ']':
        around.pop();
        break;
    }
  }
  return undefined;
}

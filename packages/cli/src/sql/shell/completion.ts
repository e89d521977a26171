/** What a word at the end of a line may become. */
import { sqlKeywords } from './keywords.js';
import { type NameSource, quoted } from './names.js';

export interface CompletionRequest {
  /** The statement as far as it is written, up to the cursor. */
  readonly text: string;
  readonly names: NameSource;
  readonly signal: AbortSignal;
}

export interface Completion {
  readonly candidates: readonly string[];
  /** The part of the text that a candidate takes the place of. */
  readonly word: string;
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const namePart = String.raw`(?:"(?:[^"]|"")*"|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`;
const lastWord = new RegExp(
  String.raw`((?:${namePart}\.)*)("(?:[^"]|"")*|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)?$`,
);
const tableAfter = /\b(?:from|join|into|table|describe|desc|update)\s+$/i;
const schemaAfter = /\b(?:use|schema|in)\s+$/i;
const namedTables = new RegExp(
  String.raw`\b(?:from|join)\s+(${namePart}(?:\.${namePart}){0,2})(?:\s+(?:as\s+)?(${namePart}))?`,
  'gi',
);

/** Candidates in order, the likeliest kind first. Names that cannot be asked for are left out. */
export async function complete({ text, names, signal }: CompletionRequest): Promise<Completion> {
  const [, qualifier = '', word = ''] = lastWord.exec(text) ?? [];
  const before = text.slice(0, text.length - qualifier.length - word.length);
  const found = await candidatesAfter(before, nameParts(qualifier), text, { names, signal });
  const typed = word.replace(/^"/, '').toLowerCase();
  const isQuoted = word.startsWith('"');
  const matching = found.names
    .filter((name) => name.toLowerCase().startsWith(typed))
    .map((name) => (isQuoted || !plainName.test(name) ? quoted(name) : name));
  const keywords = found.takesKeywords && !isQuoted && word !== '' ? matchingKeywords(word) : [];
  return { candidates: [...new Set([...matching, ...keywords])], word };
}

interface Candidates {
  readonly names: readonly string[];
  readonly takesKeywords: boolean;
}

async function candidatesAfter(
  before: string,
  qualifier: readonly string[],
  text: string,
  { names, signal }: Pick<CompletionRequest, 'names' | 'signal'>,
): Promise<Candidates> {
  if (qualifier.length > 0) {
    const table = tablesOf(text).get(qualifier.join('.').toLowerCase()) ?? qualifier;
    const schema = qualifier.at(-1) ?? '';
    const found = tableAfter.test(before)
      ? await orNone(names.tables(schema, signal))
      : [...(await orNone(names.columns(table, signal))), ...(await orNone(names.tables(schema, signal)))];
    return { names: found, takesKeywords: false };
  }
  const schemas = await orNone(names.schemas(signal));
  if (schemaAfter.test(before)) return { names: schemas, takesKeywords: true };
  if (tableAfter.test(before)) return { names: schemas, takesKeywords: false };
  const tables = [...new Set([...tablesOf(text).values()])];
  const columns = await Promise.all(tables.map((table) => orNone(names.columns(table, signal))));
  return { names: [...columns.flat(), ...schemas], takesKeywords: true };
}

/** Tables that the statement names, by alias and by name. */
function tablesOf(text: string): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  for (const [, name = '', alias] of text.matchAll(namedTables)) {
    const parts = nameParts(name);
    tables.set(parts.join('.').toLowerCase(), parts);
    tables.set(parts.at(-1)?.toLowerCase() ?? '', parts);
    if (alias !== undefined) tables.set(nameParts(alias).join('').toLowerCase(), parts);
  }
  return tables;
}

function nameParts(text: string): readonly string[] {
  return [...text.matchAll(new RegExp(namePart, 'g'))].map(([part]) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part,
  );
}

/** In the case in which the word was begun. */
function matchingKeywords(word: string): readonly string[] {
  const upper = word.toUpperCase();
  const isLower = word === word.toLowerCase();
  return sqlKeywords
    .filter((keyword) => keyword.startsWith(upper))
    .map((keyword) => (isLower ? keyword.toLowerCase() : keyword));
}

async function orNone(names: Promise<readonly string[]>): Promise<readonly string[]> {
  return await names.catch(() => []);
}

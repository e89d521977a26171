import { parse, TomlError } from 'smol-toml';

/** A configuration file as it was read. */
export interface TomlFile {
  readonly path: string;
  readonly text: string;
}

export interface TomlEntry {
  /** Dotted path from the root of the document. */
  readonly key: string;
  readonly value: unknown;
}

export type ParsedTomlFile =
  | { readonly kind: 'entries'; readonly entries: readonly TomlEntry[] }
  | { readonly kind: 'syntax-error'; readonly message: string };

export type ParsedTomlDocument =
  | { readonly kind: 'document'; readonly document: Readonly<Record<string, unknown>> }
  | { readonly kind: 'syntax-error'; readonly message: string };

/** The document as it is. Integers are bigint. The message of a syntax error quotes nothing of the file. */
export function parseTomlDocument({ path, text }: TomlFile): ParsedTomlDocument {
  try {
    return { kind: 'document', document: parse(text, { integersAsBigInt: true, maxDepth: 32 }) };
  } catch (caught) {
    if (!(caught instanceof TomlError)) throw caught;
    // The rest of the parser's message quotes lines of the file, which may hold secrets.
    const reason = caught.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '');
    return { kind: 'syntax-error', message: `${path}:${caught.line}:${caught.column}: ${reason}` };
  }
}

/**
 * The document as `section.key` entries. What does not have that shape is an entry too, under its own path, so that it
 * is reported where it stands: a value outside a section, a section without keys.
 */
export function parseTomlFile(file: TomlFile): ParsedTomlFile {
  const parsed = parseTomlDocument(file);
  if (parsed.kind === 'syntax-error') return parsed;
  return { kind: 'entries', entries: Object.entries(parsed.document).flatMap(sectionEntries) };
}

function sectionEntries([name, value]: [string, unknown]): readonly TomlEntry[] {
  const section = bareOrQuoted(name);
  const keys = isTable(value) ? Object.entries(value) : [];
  return keys.length === 0
    ? [{ key: section, value }]
    : keys.map(([key, entry]) => ({ key: `${section}.${bareOrQuoted(key)}`, value: entry }));
}

/** Quoted where TOML needs quotes: `"server.flight_port"` is one key, not a section and a key. */
function bareOrQuoted(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

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

/**
 * The document as `section.key` entries. What is deeper or shallower than that is an entry too, under its own path,
 * so that an unknown key is reported where it stands; integers are bigint.
 */
export function parseTomlFile({ path, text }: TomlFile): ParsedTomlFile {
  try {
    const document = parse(text, { integersAsBigInt: true, maxDepth: 32 });
    const entries = Object.entries(document).flatMap(([section, value]) =>
      isTable(value) ? sectionEntries(section, value) : [{ key: section, value }],
    );
    return { kind: 'entries', entries };
  } catch (caught) {
    if (!(caught instanceof TomlError)) throw caught;
    // The rest of the parser's message quotes lines of the file, which may hold secrets.
    const reason = caught.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '');
    return { kind: 'syntax-error', message: `${path}:${caught.line}:${caught.column}: ${reason}` };
  }
}

function sectionEntries(section: string, table: Readonly<Record<string, unknown>>): readonly TomlEntry[] {
  return Object.entries(table).map(([key, value]) => ({ key: `${section}.${key}`, value }));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

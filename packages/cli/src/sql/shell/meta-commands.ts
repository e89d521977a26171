/** The commands that begin with a backslash, as PostgreSQL's shell has them. */
import { type FormatName, formatNames, isBinary, isFormatName } from '../output/format.js';
import { quoted } from './names.js';

export type MetaCommand =
  | { readonly kind: 'sql'; readonly sql: string }
  | { readonly kind: 'quit' }
  | { readonly kind: 'help' }
  | { readonly kind: 'timing'; readonly isOn: boolean | undefined }
  | { readonly kind: 'expanded'; readonly isOn: boolean | undefined }
  | { readonly kind: 'format'; readonly format: FormatName }
  | { readonly kind: 'output'; readonly path: string | undefined }
  | { readonly kind: 'include'; readonly path: string }
  | { readonly kind: 'wrong'; readonly message: string };

/** An answer on a terminal is text. */
const textFormats = formatNames.filter((name) => !isBinary(name)).join(', ');

export const metaHelp = `  \\d [TABLE]          columns of a table; without a name: all tables
  \\dn                 schemas
  \\dt [SCHEMA]        tables
  \\l                  catalogs
  \\x [on|off]         one line per value
  \\timing [on|off]    how long a statement took
  \\format NAME        ${textFormats}
  \\o [FILE]           answers go to a file; without a name: to the terminal again
  \\i FILE             runs the statements of a file
  \\q                  leaves, as Ctrl-D does
  \\?                  this text

  A statement ends with a semicolon. Ctrl-C ends a running statement, or drops what is typed.
`;

/** Reads one line that begins with a backslash. */
export function parseMetaCommand(line: string): MetaCommand {
  const [, name = '', rest = ''] = /^\\(\S*)\s*(.*?)\s*;?\s*$/s.exec(line) ?? [];
  switch (name) {
    case 'q':
      return { kind: 'quit' };
    case '?':
      return { kind: 'help' };
    case 'l':
      return { kind: 'sql', sql: 'SHOW CATALOGS' };
    case 'dn':
      return { kind: 'sql', sql: 'SHOW SCHEMAS' };
    case 'dt':
      return { kind: 'sql', sql: rest === '' ? 'SHOW TABLES' : `SHOW TABLES IN ${writtenName(rest)}` };
    case 'd':
      return { kind: 'sql', sql: rest === '' ? 'SHOW TABLES' : `DESCRIBE ${writtenName(rest)}` };
    case 'x':
      return withSwitch('expanded', rest);
    case 'timing':
      return withSwitch('timing', rest);
    case 'o':
      return { kind: 'output', path: rest === '' ? undefined : rest };
    case 'i':
      return rest === '' ? wrong('\\i takes the name of a file.') : { kind: 'include', path: rest };
    case 'format':
      return isFormatName(rest) && !isBinary(rest)
        ? { kind: 'format', format: rest }
        : wrong(`\\format takes ${textFormats}.`);
    default:
      return wrong(`There is no command \\${name}; \\? lists them.`);
  }
}

function withSwitch(kind: 'timing' | 'expanded', rest: string): MetaCommand {
  if (rest === '') return { kind, isOn: undefined };
  if (rest === 'on' || rest === 'off') return { kind, isOn: rest === 'on' };
  return wrong(`${kind === 'timing' ? '\\timing' : '\\x'} takes on or off.`);
}

function wrong(message: string): MetaCommand {
  return { kind: 'wrong', message };
}

/** Quoted parts stay as they are; others are quoted, so that no part of a name is read as anything else. */
function writtenName(text: string): string {
  const parts = text.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
  return parts.map((part) => (part.startsWith('"') ? part : quoted(part.trim()))).join('.');
}

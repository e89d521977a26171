/** The command line of `svc sql`. */
import { parseArgs } from 'node:util';
import { UsageError } from '../usage-error.js';
import { type FormatName, formatNames, isFormatName } from './output/format.js';
import { parseServerAddress, type ServerAddress } from './session/server-address.js';

export interface SqlOptions {
  readonly config: string | undefined;
  /** Without it the session is in this process. */
  readonly server: ServerAddress | undefined;
  readonly tlsRootsPath: string | undefined;
  readonly isInsecureAllowed: boolean;
  readonly catalog: string | undefined;
  readonly schema: string | undefined;
  /** Texts and files in the order in which they were given; none: standard input. */
  readonly sources: readonly ScriptSource[];
  readonly format: FormatName | undefined;
  readonly outputPath: string | undefined;
  readonly isKeptGoing: boolean;
  readonly hasPager: boolean;
  readonly hasProgress: boolean;
  readonly isHelp: boolean;
}

export type ScriptSource =
  | { readonly kind: 'text'; readonly sql: string }
  | { readonly kind: 'file'; readonly path: string };

export const sqlOptionDefinitions = {
  command: { type: 'string', short: 'c', multiple: true },
  file: { type: 'string', short: 'f', multiple: true },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  server: { type: 'string', short: 's' },
  'tls-roots': { type: 'string' },
  insecure: { type: 'boolean' },
  catalog: { type: 'string' },
  schema: { type: 'string' },
  config: { type: 'string' },
  'keep-going': { type: 'boolean' },
  'no-pager': { type: 'boolean' },
  'no-progress': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Throws UsageError, and what parseArgs throws. */
export function parseSqlOptions(args: readonly string[]): SqlOptions {
  const { values, tokens } = parseArgs({ args: [...args], options: sqlOptionDefinitions, tokens: true });
  const sources = tokens.flatMap((token): ScriptSource[] => {
    if (token.kind !== 'option' || token.value === undefined) return [];
    if (token.name === 'command') return [{ kind: 'text', sql: token.value }];
    if (token.name === 'file') return [{ kind: 'file', path: token.value }];
    return [];
  });
  const { format, server } = values;
  if (format !== undefined && !isFormatName(format))
    throw new UsageError(`--format takes ${formatNames.join(', ')}, not ${JSON.stringify(format)}.`);
  if (server === undefined && (values['tls-roots'] !== undefined || values.insecure))
    throw new UsageError('--tls-roots and --insecure are about a connection: they need --server.');
  if (server !== undefined && values.config !== undefined)
    throw new UsageError('--config is about an embedded session: a server has its own configuration.');
  return {
    config: values.config,
    server: server === undefined ? undefined : parseServerAddress(server),
    tlsRootsPath: values['tls-roots'],
    isInsecureAllowed: values.insecure ?? false,
    catalog: values.catalog,
    schema: values.schema,
    sources,
    format,
    outputPath: values.output,
    isKeptGoing: values['keep-going'] ?? false,
    hasPager: !values['no-pager'],
    hasProgress: !values['no-progress'],
    isHelp: values.help ?? false,
  };
}

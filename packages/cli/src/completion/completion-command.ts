/** `svc completion`: scripts that make shells complete our command line. */
import { parseArgs } from 'node:util';
import { exitCodes } from '../exit-codes.js';
import { completionHelp } from '../help/main-help.js';
import { sqlOptionDefinitions } from '../sql/options.js';
import { formatNames } from '../sql/output/format.js';
import { UsageError } from '../usage-error.js';
import { bashScript, fishScript, zshScript } from './shell-scripts.js';

export interface CompletedOption {
  readonly name: string;
  readonly short: string | undefined;
  /** What follows the option; undefined when nothing does. */
  readonly value: 'file' | 'text' | readonly string[] | undefined;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Words that may follow the command. */
  readonly words: readonly string[];
}

const shells: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const fileOptions: ReadonlySet<string> = new Set(['file', 'output', 'config', 'tls-roots']);
const help: CompletedOption = { name: 'help', short: 'h', value: undefined };

export function completionCommand(args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(completionHelp);
    return exitCodes.ok;
  }
  const [shell = ''] = positionals;
  const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (write === undefined || positionals.length !== 1)
    throw new UsageError(`svc completion takes the name of a shell: ${Object.keys(shells).join(', ')}.`);
  process.stdout.write(write(commands()));
  return exitCodes.ok;
}

function commands(): readonly CompletedCommand[] {
  const config: CompletedOption = { name: 'config', short: undefined, value: 'file' };
  const names = ['serve', 'worker', 'sql', 'completion', 'version'];
  return [
    { name: 'serve', description: 'run the service', options: [config, help], words: [] },
    {
      name: 'worker',
      description: 'run parts of queries for services elsewhere',
      options: [config, help],
      words: [],
    },
    { name: 'sql', description: 'run SQL', options: sqlOptions(), words: [] },
    {
      name: 'completion',
      description: 'print a completion script',
      options: [help],
      words: Object.keys(shells),
    },
    { name: 'version', description: 'print the version', options: [help], words: [] },
    { name: 'help', description: 'print the help text of a command', options: [], words: names },
  ];
}

function sqlOptions(): readonly CompletedOption[] {
  return Object.entries(sqlOptionDefinitions).map(([name, definition]) => ({
    name,
    short: 'short' in definition ? definition.short : undefined,
    value: valueKind(name, definition.type),
  }));
}

function valueKind(name: string, type: 'string' | 'boolean'): CompletedOption['value'] {
  if (type === 'boolean') return undefined;
  if (name === 'format') return formatNames;
  return fileOptions.has(name) ? 'file' : 'text';
}

import { parseArgs } from 'node:util';
import { exitCodes } from './exit-codes.js';
import { completionHelp, mainHelp, serveHelp, versionHelp, workerHelp } from './help/main-help.js';
import { UsageError } from './usage-error.js';
import { serviceVersion } from './version.js';

/** Answers the exit code: see `exitCodes`. Each command's code is loaded when it is called for. */
export async function commandLine(args: readonly string[]): Promise<number> {
  // Whoever read our output may have gone; what that means is up to the command.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    return await run(args);
  } catch (caught) {
    if (isParseError(caught) || caught instanceof UsageError) {
      const [command = ''] = args;
      const more = Object.hasOwn(helpTexts, command) ? `svc ${command} --help` : 'svc help';
      process.stderr.write(`svc: ${caught.message}\nTry: ${more}\n`);
      return exitCodes.usage;
    }
    const { errorText } = await import('./sql/report-error.js');
    process.stderr.write(errorText(caught));
    return exitCodes.failed;
  }
}

/** Help texts by command; that of `sql` is made of what it can do, and so is loaded with it. */
const helpTexts: Readonly<Record<string, () => Promise<string>>> = {
  serve: async () => serveHelp,
  worker: async () => workerHelp,
  sql: async () => (await import('./help/sql-help.js')).sqlHelp,
  completion: async () => completionHelp,
  version: async () => versionHelp,
};

async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'serve':
      return await serviceCommand(rest, serveHelp, async (options) =>
        (await import('./serve/serve.js')).serve(options),
      );
    case 'worker':
      return await serviceCommand(rest, workerHelp, async (options) =>
        (await import('./worker/worker.js')).worker(options),
      );
    case 'sql':
      return await (await import('./sql/sql-command.js')).sqlCommand(rest);
    case 'completion':
      return (await import('./completion/completion-command.js')).completionCommand(rest);
    case 'version':
    case '--version':
    case '-V':
      return versionCommand(rest);
    case 'help':
    case '--help':
    case '-h':
      return await helpCommand(rest);
    case undefined:
      process.stderr.write(mainHelp);
      return exitCodes.usage;
    default:
      throw new UsageError(`There is no command ${JSON.stringify(command)}.`);
  }
}

const helpOption = { help: { type: 'boolean', short: 'h' } } as const;

async function serviceCommand(
  args: readonly string[],
  helpText: string,
  serve: (options: { readonly config: string | undefined }) => Promise<number>,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { config: { type: 'string' }, ...helpOption } });
  if (values.help) {
    process.stdout.write(helpText);
    return exitCodes.ok;
  }
  return await serve({ config: values.config });
}

function versionCommand(args: readonly string[]): number {
  const { values } = parseArgs({ args: [...args], options: helpOption });
  process.stdout.write(values.help ? versionHelp : `svc ${serviceVersion}\n`);
  return exitCodes.ok;
}

async function helpCommand([topic, ...more]: readonly string[]): Promise<number> {
  const text = topic !== undefined && Object.hasOwn(helpTexts, topic) ? helpTexts[topic] : undefined;
  if (more.length > 0 || (topic !== undefined && text === undefined))
    throw new UsageError(`There is no help about ${JSON.stringify([topic, ...more].join(' '))}.`);
  process.stdout.write(text === undefined ? mainHelp : await text());
  return exitCodes.ok;
}

function isParseError(caught: unknown): caught is Error {
  return caught instanceof TypeError && 'code' in caught && String(caught.code).startsWith('ERR_PARSE_ARGS');
}

import { parseArgs } from 'node:util';
import { QueryError } from '@svc/base';
import { serve } from './serve/serve.js';
import { serviceVersion } from './version.js';

const usage = `svc ${serviceVersion}: SQL over Apache Iceberg tables, as the user who asks

Usage
  svc serve [--config FILE]   run the service; the configuration is FILE, else ./svc.toml, else the defaults
  svc version                 print the version of the service
  svc help                    print this text

Every setting of the configuration file can be given as SVC_SECTION__KEY in the environment; docs/configuration.md
lists them. RUST_LOG sets the log level (trace, debug, info, warn, error). Logs are JSON lines on standard output.
`;

/** Exit codes: 0 done, 1 failed, 2 the command line is not right. */
export async function commandLine(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (caught) {
    if (isParseError(caught)) {
      process.stderr.write(`svc: ${caught.message}\nTry: svc help\n`);
      return 2;
    }
    const error = QueryError.from(caught);
    const detail =
      error.code === 'INTERNAL_ERROR' && error.cause instanceof Error ? `\n${error.cause.stack ?? ''}` : '';
    process.stderr.write(`svc: [${error.code}] ${error.message}${detail}\n`);
    return 1;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'serve': {
      const { values } = parseArgs({ args: [...rest], options: { config: { type: 'string' } } });
      return await serve(values);
    }
    case 'version':
    case '--version':
      parseArgs({ args: [...rest], options: {} });
      process.stdout.write(`svc ${serviceVersion}\n`);
      return 0;
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(usage);
      return 0;
    case undefined:
      process.stderr.write(usage);
      return 2;
    default:
      process.stderr.write(`svc: there is no command "${command}".\nTry: svc help\n`);
      return 2;
  }
}

function isParseError(caught: unknown): caught is Error {
  return caught instanceof TypeError && 'code' in caught && String(caught.code).startsWith('ERR_PARSE_ARGS');
}

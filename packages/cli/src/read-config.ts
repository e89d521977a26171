import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, loadConfig, type ProcessEnvironment, QueryError } from '@svc/base';

/**
 * The configuration: the file named, else `svc.toml` in the working folder if there is one, and the environment.
 * Throws CONFIGURATION_ERROR.
 */
export async function readConfig(path: string | undefined, environment: ProcessEnvironment): Promise<Config> {
  const toml = await readConfigFile(path);
  return loadConfig({ ...(toml ? { toml } : {}), environment: environment.variables });
}

async function readConfigFile(
  path: string | undefined,
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  const file = path ?? join(process.cwd(), 'svc.toml');
  try {
    return { path: file, text: await readFile(file, 'utf8') };
  } catch (error) {
    if (path === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return undefined;
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `The configuration file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { QueryError } from '@svc/base';
import { writeSynced } from '@svc/lake';
import { isSameSecret } from './bearer.js';
import { wrongCredentials } from './identity-provider.js';
import type { CheckPassword } from './sign-in-door.js';

export const localUsername = 'local';

/**
 * The one user that exists without `auth.*` settings: `local`, an admin in SQL. Listeners then refuse every address
 * but loopback, and the password lies in a file that only the owner of the process can read.
 */
export function createLocalSignIn(password: string): CheckPassword {
  return async (username, given) => {
    const isRight = isSameSecret(given, password);
    if (username !== localUsername || !isRight) throw wrongCredentials();
    return { identity: { username, roles: ['admin'] }, tokens: undefined, renew: undefined };
  };
}

/**
 * Reads the password file, or makes it (mode 0600) with 144 random bits. It appears with its content: neither another
 * process that starts now nor the next start after a crash finds half of it.
 */
export async function readOrCreatePassword(path: string): Promise<string> {
  const existing = await readPassword(path);
  if (existing !== undefined) return existing;
  await mkdir(dirname(path), { recursive: true });
  const password = randomBytes(18).toString('base64url');
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    await writeSynced(draft, `${password}\n`);
    await link(draft, path);
    return password;
  } catch (error) {
    // Another process of the same owner was first.
    const other = await readPassword(path);
    if (other !== undefined) return other;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readPassword(path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    if (text.length < 8) {
      throw new QueryError(
        'CONFIGURATION_ERROR',
        `The password file ${path} holds fewer than 8 characters; delete it to have a new one made.`,
      );
    }
    await chmod(path, 0o600);
    return text;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

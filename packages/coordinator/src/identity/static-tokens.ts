/** Bearers for programs, from the file `auth.static_tokens_path`: it holds their SHA-256 only. */
import { readFile } from 'node:fs/promises';
import { parseTomlDocument, QueryError } from '@svc/base';
import { bearerKey } from './bearer.js';
import type { BearerOwner, Identity } from './identity-provider.js';
import { isUserName } from './user-name.js';

export interface StaticTokens {
  ownerOf(bearer: string): BearerOwner | undefined;
}

const fields = ['username', 'roles', 'sha256'] as const;
const maxFileBytes = 2 ** 20;

export async function readStaticTokens(path: string | undefined): Promise<StaticTokens> {
  const owners = path === undefined ? new Map<string, Identity>() : parseTokens(path, await readText(path));
  return {
    ownerOf(bearer) {
      // By digest: how long a look-up takes says nothing about tokens that are nearly right.
      const identity = owners.get(bearerKey(bearer));
      return (
        identity && {
          identity,
          tokens: undefined,
          renew: undefined,
          issuer: 'static',
          subject: identity.username,
        }
      );
    },
  };
}

async function readText(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw problem(path, 'the file cannot be read', cause);
  }
  if (text.length > maxFileBytes) throw problem(path, 'the file is larger than 1 MiB');
  return text;
}

function parseTokens(path: string, text: string): ReadonlyMap<string, Identity> {
  const parsed = parseTomlDocument({ path, text });
  if (parsed.kind === 'syntax-error')
    throw new QueryError('CONFIGURATION_ERROR', `\`auth.static_tokens_path\`: ${parsed.message}`);
  const { token: entries, ...rest } = parsed.document;
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined)
    throw problem(path, `\`${stranger}\` is not known: the file has \`[[token]]\` entries only`);
  const owners = new Map<string, Identity>();
  if (entries === undefined) return owners;
  if (!Array.isArray(entries)) throw problem(path, '`token` must be a list of entries: write `[[token]]`');
  entries.forEach((entry: unknown, index) => {
    const { digest, identity } = readEntry(path, index + 1, entry);
    if (owners.has(digest))
      throw problem(path, `entry ${index + 1}: its \`sha256\` is that of an earlier entry, too`);
    owners.set(digest, identity);
  });
  return owners;
}

function readEntry(path: string, number: number, entry: unknown) {
  const wrong = (field: string, expectation: string) =>
    problem(path, `entry ${number}: \`${field}\` must be ${expectation}`);
  if (typeof entry !== 'object' || entry === null) throw problem(path, `entry ${number} must be a table`);
  const { username, roles, sha256, ...rest }: Partial<Record<string, unknown>> = { ...entry };
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined)
    throw problem(
      path,
      `entry ${number}: \`${stranger}\` is not known: it has ${fields.map((each) => `\`${each}\``).join(', ')}`,
    );
  if (!isUserName(username))
    throw wrong('username', 'a text of 1 to 256 characters without control characters');
  if (!Array.isArray(roles) || !roles.every(isUserName))
    throw wrong('roles', 'a list of role names, which may be empty');
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256))
    throw wrong('sha256', 'the 64 hexadecimal digits of the SHA-256 of the token');
  return { digest: sha256.toLowerCase(), identity: { username, roles } };
}

function problem(path: string, what: string, cause?: unknown): QueryError {
  return new QueryError('CONFIGURATION_ERROR', `\`auth.static_tokens_path\`: ${path}: ${what}.`, { cause });
}

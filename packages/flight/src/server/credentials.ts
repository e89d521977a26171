import type { Metadata } from '@grpc/grpc-js';
import { hasBearerForm, QueryError } from '@svc/base';
import type { Credentials } from '../backend.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Colons separate user and password; control characters are excluded by RFC 7617. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;
/** The longest access token that is taken is 16 KiB, and no user name with its password is longer than this in base64. */
const MAX_LENGTH = 24 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The credentials of a call: `authorization: Basic` or `Bearer`, or `auth-token-bin`, in which clients that signed in
 * by payload send their token. `undefined` when there are none; UNAUTHENTICATED when they are malformed. No message
 * ever quotes a credential.
 */
export function readCredentials(metadata: Metadata): Credentials | undefined {
  const [binary] = metadata.get('auth-token-bin');
  if (binary !== undefined) return { kind: 'bearer', token: checkToken(String(binary)) };
  const [header] = metadata.get('authorization');
  if (header === undefined) return undefined;
  const text = String(header);
  const [, scheme, value] = text.length > MAX_LENGTH ? [] : (/^(\S+) +(\S+)$/.exec(text) ?? []);
  if (scheme !== undefined && value !== undefined) {
    if (scheme.toLowerCase() === 'bearer') return { kind: 'bearer', token: checkToken(value) };
    if (scheme.toLowerCase() === 'basic') return readBasic(value);
  }
  throw new QueryError(
    'UNAUTHENTICATED',
    'The authorization header must be "Basic <base64>" or "Bearer <token>", of at most 24 KiB.',
  );
}

function checkToken(token: string): string {
  if (token.length > MAX_LENGTH || !hasBearerForm(token))
    throw new QueryError('UNAUTHENTICATED', 'The bearer token is malformed.');
  return token;
}

function readBasic(value: string): Credentials {
  if (!BASE64.test(value)) throw malformedBasic();
  let text: string;
  try {
    text = utf8.decode(Buffer.from(value, 'base64'));
  } catch (cause) {
    throw malformedBasic(cause);
  }
  const colon = text.indexOf(':');
  if (colon < 0) throw malformedBasic();
  return basicCredentials(text.slice(0, colon), text.slice(colon + 1));
}

/** Credentials of a user and a password, wherever they came from. */
export function basicCredentials(username: string, password: string): Credentials {
  if (CONTROL_CHARACTER.test(username) || CONTROL_CHARACTER.test(password)) throw malformedBasic();
  return { kind: 'basic', username, password };
}

function malformedBasic(cause?: unknown): QueryError {
  return new QueryError('UNAUTHENTICATED', 'The Basic credentials are malformed.', { cause });
}

import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new session's bearer: 256 random bits. It is returned once and never stored: see `bearerKey`. */
export function newBearer(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a bearer has the form of one that `newBearer` makes: here or at another coordinator. */
export function isOwnBearer(bearer: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(bearer);
}

/** The key under which a session is found: a look-up by digest leaks nothing about near misses by its timing. */
export function bearerKey(bearer: string): string {
  return hash('sha256', bearer, 'hex');
}

/** How a session is named in logs and audit: the first 16 hex digits of the bearer's SHA-256 (design section 7). */
export function sessionLabel(key: string): string {
  return key.slice(0, 16);
}

/** Compares two secrets of any length in time that depends on neither. */
export function isSameSecret(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

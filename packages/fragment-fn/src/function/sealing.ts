/**
 * Orders travel encrypted to a key of the function. Its role has no right to any data, and whoever sees its events has none
 * either: credentials and signed addresses are in the order, and its service keeps events where it likes.
 */
import { QueryError } from '@svc/base';
import {
  CompactEncrypt,
  type CryptoKey,
  calculateJwkThumbprint,
  compactDecrypt,
  decodeProtectedHeader,
  importJWK,
  type JWK,
} from 'jose';
import { type InvocationOrder, parseOrder, refused } from './invocation.js';

const keyAgreement = 'ECDH-ES';
const contentEncryption = 'A256GCM';
const curve = 'P-256';

export interface SealingKey {
  readonly id: string;
  readonly key: CryptoKey;
}

export type OpeningKeys = ReadonlyMap<string, CryptoKey>;

/** The public key of a function, as JSON Web Key. Throws CONFIGURATION_ERROR. */
export async function readSealingKey(json: string): Promise<SealingKey> {
  const jwk = jwkOf(parseJson(json));
  if (jwk?.d !== undefined)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      'The key to seal with must be a public key, and is a private one.',
    );
  return { id: await idOf(jwk), key: await keyOf(jwk) };
}

/**
 * The function's private keys, as JSON Web Key Set: two of them while one takes the place of the other. Throws
 * CONFIGURATION_ERROR, which says nothing of them.
 */
export async function readOpeningKeys(json: string): Promise<OpeningKeys> {
  const parsed = parseJson(json);
  const list: unknown = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : [];
  const keys = new Map<string, CryptoKey>();
  for (const each of Array.isArray(list) ? list : []) {
    const jwk = jwkOf(each);
    if (jwk?.d === undefined) throw noKey();
    keys.set(await idOf(jwk), await keyOf(jwk));
  }
  if (keys.size === 0) throw noKey();
  return keys;
}

export async function seal(content: Uint8Array, { id, key }: SealingKey): Promise<string> {
  return await new CompactEncrypt(content)
    .setProtectedHeader({ alg: keyAgreement, enc: contentEncryption, kid: id })
    .encrypt(key);
}

/** Throws FRAGMENT_REFUSED, which says nothing of the content. */
export async function unseal(sealed: string, keys: OpeningKeys): Promise<Uint8Array> {
  const id = keyIdOf(sealed);
  const key = keys.get(id);
  if (key === undefined)
    throw refused(`it is sealed to a key that the function has not (${id.slice(0, 64)})`);
  try {
    const { plaintext } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: [keyAgreement],
      contentEncryptionAlgorithms: [contentEncryption],
    });
    return plaintext;
  } catch {
    throw refused('its seal is broken');
  }
}

function keyIdOf(sealed: string): string {
  try {
    return String(decodeProtectedHeader(sealed).kid ?? 'none');
  } catch {
    throw refused('it is not sealed');
  }
}

/** Length of the order in JSON, the order, the task. */
export function packOrder(order: InvocationOrder, task: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(order), 'utf8');
  const packed = new Uint8Array(4 + json.byteLength + task.byteLength);
  new DataView(packed.buffer).setUint32(0, json.byteLength, true);
  packed.set(json, 4);
  packed.set(task, 4 + json.byteLength);
  return packed;
}

export function unpackOrder(packed: Uint8Array): {
  readonly order: InvocationOrder;
  readonly task: Uint8Array;
} {
  const bytes = packed.byteLength < 4 ? 0 : new DataView(packed.buffer, packed.byteOffset).getUint32(0, true);
  const end = 4 + bytes;
  if (bytes === 0 || end > packed.byteLength) throw refused('what it says is no order');
  const order = parseOrder(parseJson(Buffer.from(packed.subarray(4, end)).toString('utf8')));
  return { order, task: packed.subarray(end) };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function jwkOf(value: unknown): JWK | undefined {
  return typeof value === 'object' && value !== null ? (value as JWK) : undefined;
}

async function idOf(jwk: JWK | undefined): Promise<string> {
  if (jwk?.kty !== 'EC' || jwk.crv !== curve) throw noKey();
  if (typeof jwk.kid === 'string') return jwk.kid;
  return await calculateJwkThumbprint(jwk).catch(() => {
    throw noKey();
  });
}

async function keyOf(jwk: JWK | undefined): Promise<CryptoKey> {
  const key = await importJWK(jwk ?? {}, keyAgreement).catch(() => undefined);
  if (key === undefined || key instanceof Uint8Array) throw noKey();
  return key;
}

function noKey(): QueryError {
  return new QueryError(
    'CONFIGURATION_ERROR',
    `The key of the function must be a JSON Web Key on the curve ${curve}: the public one of the coordinator, a set of private ones of the function.`,
  );
}

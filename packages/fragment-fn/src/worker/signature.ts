/**
 * Who may call a worker, and for what. A coordinator signs each of its calls with the secret that it shares with its
 * workers: a token of seconds, of one use, and, of a task, of its exact bytes and of one worker's process. A worker signs
 * what it says of itself by the same secret, so that nobody else is sent the credentials of users.
 */
import { createHash, createSecretKey, type KeyObject, randomUUID, webcrypto } from 'node:crypto';
import { QueryError } from '@svc/base';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { UsedIds } from './used-ids.js';

/** A call is answered or refused long before that. */
const lifetimeSecs = 30;
/** Clocks may differ by a minute, and a call takes its time. */
export const clockToleranceSecs = 75;
/** No coordinator of ours asks for more. */
const maxLifetimeSecs = 300;
export const minSecretBytes = 32;

const algorithm = 'HS256';
const taskType = 'svc-task+jwt';
const heartbeatType = 'svc-heartbeat+jwt';
const answerType = 'svc-worker+jwt';
/** Whom a heartbeat is for: who answers it says which process it is. */
const anyWorker = 'svc-worker';

/** Throws CONFIGURATION_ERROR for a secret that could be guessed. */
export function callKey(secret: string): KeyObject {
  const bytes = Buffer.from(secret, 'utf8');
  if (bytes.byteLength < minSecretBytes)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `\`worker.secret\` must have at least ${minSecretBytes} bytes.`,
    );
  return createSecretKey(bytes);
}

export interface TaskSubject {
  /** What `FragmentRequest.owner` must be. */
  readonly owner: string;
  readonly queryId: string;
  /** The process that is meant; see `WorkerFacts.bootId`. */
  readonly bootId: string;
}

/** A call whose signature is good, and was not seen before. */
export type VerifiedCall = VerifiedTask | VerifiedHeartbeat;

export interface VerifiedTask {
  readonly kind: 'task';
  /** The process that signed it. */
  readonly coordinator: string;
  /** Digests; see `digestOf`. */
  readonly owner: string;
  readonly hash: string;
  readonly byteLength: number;
  readonly queryId: string;
}

export interface VerifiedHeartbeat {
  readonly kind: 'heartbeat';
  readonly coordinator: string;
  readonly id: string;
}

export interface SigningOptions {
  readonly key: KeyObject;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** SHA-256 in base64url. */
export function digestOf(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('base64url');
}

export async function signTask(
  task: Uint8Array,
  { owner, queryId, bootId }: TaskSubject,
  { coordinator, ...options }: SigningOptions & { readonly coordinator: string },
): Promise<string> {
  const claims = { own: digestOf(owner), qid: queryId, hash: digestOf(task), len: task.byteLength };
  return await sign({ ...claims, iss: coordinator, aud: bootId, jti: randomUUID() }, taskType, options);
}

/** Answers the id too, which the answer must name. */
export async function signHeartbeat({
  coordinator,
  ...options
}: SigningOptions & { readonly coordinator: string }): Promise<{
  readonly token: string;
  readonly id: string;
}> {
  const id = randomUUID();
  const token = await sign({ iss: coordinator, aud: anyWorker, jti: id }, heartbeatType, options);
  return { token, id };
}

/** What a worker says of itself, to the heartbeat that asked. */
export async function signFacts(
  facts: JWTPayload,
  { coordinator, id }: VerifiedHeartbeat,
  options: SigningOptions,
): Promise<string> {
  return await sign({ ...facts, aud: coordinator, re: id }, answerType, options);
}

/** The claims of an answer to the heartbeat of this id. Throws EXECUTOR_LOST. */
export async function verifyFacts(
  token: string,
  { coordinator, id }: { readonly coordinator: string; readonly id: string },
  options: SigningOptions,
): Promise<JWTPayload> {
  try {
    const claims = await verify(token, answerType, coordinator, options);
    const { re } = claims;
    if (re === id) return claims;
  } catch (caught) {
    if (!(caught instanceof errors.JOSEError)) throw caught;
  }
  throw new QueryError(
    'EXECUTOR_LOST',
    'It does not know the secret that workers share, or its clock is wrong.',
  );
}

export interface VerifyingOptions extends SigningOptions {
  readonly bootId: string;
  readonly usedIds: UsedIds;
}

/** Throws FRAGMENT_REFUSED with what is wrong; nothing of the token is in the message. */
export async function verifyCall(
  token: string | undefined,
  options: VerifyingOptions,
): Promise<VerifiedCall> {
  if (token === undefined) throw refused('it is not signed');
  const isTask = typeOf(token) === taskType;
  const claims = await verify(
    token,
    isTask ? taskType : heartbeatType,
    isTask ? options.bootId : anyWorker,
    options,
  ).catch((caught: unknown) => {
    if (caught instanceof errors.JOSEError) throw refused(reasonOf(caught), caught);
    throw caught;
  });
  const { iss: coordinator, jti: id, exp = 0, own: owner, qid: queryId, hash, len: byteLength } = claims;
  if (!isText(coordinator) || !isText(id)) throw refused('its claims are not complete');
  const call: VerifiedCall | undefined = !isTask
    ? { kind: 'heartbeat', coordinator, id }
    : isText(owner) && isText(queryId) && isText(hash) && isCount(byteLength)
      ? { kind: 'task', coordinator, owner, queryId, hash, byteLength }
      : undefined;
  if (call === undefined) throw refused('its claims are not complete');
  if (!options.usedIds.use(id, (exp + clockToleranceSecs + 1) * 1000))
    throw refused('its signature was used before');
  return call;
}

async function sign(claims: JWTPayload, typ: string, { key, now }: SigningOptions): Promise<string> {
  const issuedAt = Math.floor(now() / 1000);
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSecs)
    .sign(await importedKey(key));
}

async function verify(
  token: string,
  typ: string,
  audience: string,
  { key, now }: SigningOptions,
): Promise<JWTPayload> {
  const nowMs = now();
  const { payload } = await jwtVerify(token, await importedKey(key), {
    algorithms: [algorithm],
    typ,
    audience,
    clockTolerance: clockToleranceSecs,
    currentDate: new Date(nowMs),
    requiredClaims: ['aud', 'iat', 'exp'],
  });
  const { iat = 0, exp = 0 } = payload;
  if (iat > nowMs / 1000 + clockToleranceSecs)
    throw new errors.JWTClaimValidationFailed('it is of the future', payload, 'iat', 'check_failed');
  if (exp - iat > maxLifetimeSecs)
    throw new errors.JWTClaimValidationFailed('it lives too long', payload, 'exp', 'check_failed');
  return payload;
}

const importedKeys = new WeakMap<KeyObject, Promise<webcrypto.CryptoKey>>();

/** As jose wants it: given anything else it imports the secret anew for each call. */
async function importedKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  let imported = importedKeys.get(key);
  if (imported === undefined) {
    const use = { name: 'HMAC', hash: 'SHA-256' };
    imported = webcrypto.subtle.importKey('raw', key.export(), use, false, ['sign', 'verify']);
    importedKeys.set(key, imported);
  }
  return await imported;
}

/** Not verified: it only says by which rules to do so. */
function typeOf(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString('utf8'),
    );
    return typeof header === 'object' && header !== null && 'typ' in header ? String(header.typ) : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'its signature has expired, or the clocks differ';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'it is signed with another secret';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'it is for another worker, or for one before its restart';
    return `its claim ${error.claim} is not as it must be`;
  }
  return 'its signature is malformed';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 256;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function refused(reason: string, cause?: unknown): QueryError {
  return new QueryError('FRAGMENT_REFUSED', `The worker refuses the call: ${reason}.`, { cause });
}

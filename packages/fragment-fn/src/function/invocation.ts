/** What a function is told beside its task, and what it says of its own work. Shared with who invokes it. */
import { QueryError } from '@svc/base';
import { maxFrameBytes } from './frames.js';

export const functionProtocolVersion = 1;

/** The event of an invocation: sealed to the function's key (see sealing.ts), here or behind an address that is sealed. */
export type InvocationPayload =
  | { readonly protocol: number; readonly sealed: string }
  | { readonly protocol: number; readonly reference: string };

/** Where a sealed order lies that is too large for an event. The address is signed: who has it may read there. */
export interface OrderReference {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Goes in front of the task, under the same seal. */
export interface InvocationOrder {
  /** Only this function takes it. */
  readonly functionName: string;
  /** As in the task's request: an order does not fit to another one's task. */
  readonly queryId: string;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly notAfterMs: number;
  /** Of frames in the response stream; what comes behind goes to the spool. */
  readonly inlineBytes: number;
  /** Of one part in the spool, unless a single frame is more. */
  readonly partBytes: number;
  /** Signed addresses that parts are put to, in their order. */
  readonly partUrls: readonly string[];
}

/** In the place of frames that went to the spool. */
export interface SpooledPart {
  /** Position in `partUrls`. */
  readonly part: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The last frame of every answer, failed or not. */
export interface InvocationSummary {
  /** Frames before this one, those in parts included, and the parts' own. */
  readonly frames: number;
  readonly parts: number;
  readonly isColdStart: boolean;
  readonly durationMs: number;
}

/** Largest event that is sent as it is; the service takes 6 MB. */
export const maxPayloadBytes = 5_000_000;

export function parsePayload(event: unknown): InvocationPayload {
  const { protocol, sealed, reference } = isRecord(event) ? event : {};
  if (!isCount(protocol)) throw refused('it is no order of this service');
  if (protocol !== functionProtocolVersion)
    throw refused(`its protocol is ${protocol}, and that of the function ${functionProtocolVersion}`);
  if (typeof sealed === 'string') return { protocol, sealed };
  if (typeof reference === 'string') return { protocol, reference };
  throw refused('it has no sealed order');
}

export function parseReference(json: unknown): OrderReference {
  if (!isRecord(json)) throw refused('its reference is none');
  const { url, bytes, sha256 } = json;
  if (!isHttpUrl(url) || !isCount(bytes) || !isDigest(sha256)) throw refused('its reference is none');
  return { url, bytes, sha256 };
}

export function parseOrder(json: unknown): InvocationOrder {
  if (!isRecord(json)) throw refused('what it says is no order');
  const { functionName, queryId, owner, notAfterMs, inlineBytes, partBytes, partUrls } = json;
  const isWhole =
    [functionName, queryId, owner].every((value) => typeof value === 'string') &&
    [notAfterMs, inlineBytes, partBytes].every(isCount) &&
    Array.isArray(partUrls) &&
    partUrls.every(isHttpUrl);
  if (!isWhole) throw refused('what it says is no order');
  return json as unknown as InvocationOrder;
}

/** `partBytes`: as the order says; one frame alone may be more. Throws EXECUTOR_LOST, as what follows does. */
export function parsePart(header: Uint8Array, partBytes: number): SpooledPart {
  const json = parseJsonHeader(header);
  const { part, bytes, sha256 } = json;
  if (!isCount(part) || !isCount(bytes) || !isDigest(sha256)) throw garbled();
  if (bytes > Math.max(partBytes, maxFrameBytes)) throw garbled();
  return { part, bytes, sha256 };
}

export function parseSummary(header: Uint8Array): InvocationSummary {
  const { frames, parts, isColdStart, durationMs } = parseJsonHeader(header);
  if (!isCount(frames) || !isCount(parts) || typeof isColdStart !== 'boolean' || !isCount(durationMs))
    throw garbled();
  return { frames, parts, isColdStart, durationMs };
}

function parseJsonHeader(header: Uint8Array): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(Buffer.from(header).toString('utf8'));
    if (isRecord(json)) return json;
  } catch {
    // Said below.
  }
  throw garbled();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}

export function refused(why: string): QueryError {
  return new QueryError('FRAGMENT_REFUSED', `The function does not take the fragment: ${why}.`);
}

function garbled(): QueryError {
  return new QueryError('EXECUTOR_LOST', 'What a function answered is not whole: it says what cannot be.');
}

import type { EngineProgress } from '../api.js';

/**
 * The control pipe: fixed-size messages, so that the watcher thread needs no buffer. Parent to host 8 bytes (kind,
 * request id), host to parent 32 bytes (kind, request id, fraction, rows processed, rows in total).
 */
export type ControlRequest = { readonly kind: 'cancel' | 'progress'; readonly id: number };

export type ControlAnswer =
  /** The request is over; the watcher will not interrupt any more. */
  | { readonly kind: 'cancelled'; readonly id: number }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: EngineProgress }
  /** Resident memory is above the limit where the system enforces none; the host ends itself next. */
  | { readonly kind: 'memoryExceeded'; readonly id: number };

export const controlRequestBytes = 8;
export const controlAnswerBytes = 32;

const requestKinds = ['cancel', 'progress'] as const;
const answerKinds = ['cancelled', 'progress', 'memoryExceeded'] as const;

export function encodeControlRequest(request: ControlRequest): Buffer {
  const bytes = Buffer.alloc(controlRequestBytes);
  bytes.writeUInt32LE(requestKinds.indexOf(request.kind), 0);
  bytes.writeUInt32LE(request.id, 4);
  return bytes;
}

export function decodeControlRequest(bytes: Buffer): ControlRequest | undefined {
  const kind = requestKinds[bytes.readUInt32LE(0)];
  return kind === undefined ? undefined : { kind, id: bytes.readUInt32LE(4) };
}

export function encodeControlAnswer(answer: ControlAnswer): Buffer {
  const bytes = Buffer.alloc(controlAnswerBytes);
  bytes.writeUInt32LE(answerKinds.indexOf(answer.kind), 0);
  bytes.writeUInt32LE(answer.id, 4);
  if (answer.kind === 'progress') {
    bytes.writeDoubleLE(answer.progress.fraction ?? Number.NaN, 8);
    bytes.writeBigUInt64LE(answer.progress.rowsProcessed, 16);
    bytes.writeBigUInt64LE(answer.progress.rowsTotal, 24);
  }
  return bytes;
}

export function decodeControlAnswer(bytes: Buffer): ControlAnswer | undefined {
  const kind = answerKinds[bytes.readUInt32LE(0)];
  const id = bytes.readUInt32LE(4);
  if (kind === undefined) return undefined;
  if (kind !== 'progress') return { kind, id };
  const fraction = bytes.readDoubleLE(8);
  return {
    kind,
    id,
    progress: {
      fraction: Number.isNaN(fraction) ? undefined : fraction,
      rowsProcessed: bytes.readBigUInt64LE(16),
      rowsTotal: bytes.readBigUInt64LE(24),
    },
  };
}

import type { Readable } from 'node:stream';
import type { Try } from './outcome.js';

/**
 * Reads a body of known length, into `into` when given. Answers the bytes that came before it ended, or `undefined` for
 * one that is longer. Rejects when the connection breaks. Whatever happens, the body is used up or its connection closed.
 */
export async function readBody(
  body: Readable,
  length: number,
  attempt: Try,
  into: Uint8Array = Buffer.allocUnsafeSlow(length),
): Promise<Uint8Array | undefined> {
  let position = 0;
  for await (const chunk of heardChunks(body, attempt)) {
    if (chunk.length > length - position) return undefined;
    into.set(chunk, position);
    position += chunk.length;
  }
  return position === into.length ? into : into.subarray(0, position);
}

/** Reads a body of any length; `undefined` when it has more than `maxBytes`. */
export async function readBoundedBody(
  body: Readable,
  maxBytes: number,
  attempt: Try,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of heardChunks(body, attempt)) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

async function* heardChunks(body: Readable, { signal, heard }: Try): AsyncGenerator<Uint8Array> {
  const onAbort = (): void => {
    body.destroy(signal.reason);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      heard(chunk.length);
      yield chunk;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    body.destroy();
  }
}

/** Rows of an earlier stage, on their way into a table of the engine. */
import { createHash } from 'node:crypto';
import { QueryError, throwIfAborted } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import type { FragmentEnvironment } from './leased-fragment.js';
import type { FragmentInput, InputPart, InputRows } from './request.js';

export interface IngestOptions {
  readonly environment: Pick<FragmentEnvironment, 'readPart'>;
  readonly lease: Pick<EngineLease, 'ingest'>;
  readonly signal: AbortSignal;
}

/** What is known of it beforehand. */
export function inputBytes(rows: InputRows): number {
  switch (rows.kind) {
    case 'bytes':
      return rows.stream.byteLength;
    case 'parts':
      return rows.parts.reduce((sum, part) => sum + part.bytes, 0);
    case 'stream':
      return 0;
  }
}

/** Fills the input's table, which is there and empty. Throws STORAGE_ERROR for a part that is not what was written. */
export async function ingestInput(input: FragmentInput, options: IngestOptions): Promise<void> {
  const { rows } = input;
  const { lease, signal } = options;
  const name = { catalog: input.catalog, schema: input.schema, table: input.table };
  switch (rows.kind) {
    case 'bytes':
      await lease.ingest(name, onePiece(rows.stream), signal);
      return;
    case 'stream':
      await lease.ingest(name, rows.open(signal), signal);
      return;
    case 'parts':
      for (const part of rows.parts) await ingestPart(input, part, options);
      return;
  }
}

async function ingestPart(
  input: FragmentInput,
  part: InputPart,
  { environment, lease, signal }: IngestOptions,
): Promise<void> {
  if (environment.readPart === undefined)
    throw new QueryError('INTERNAL_ERROR', 'Nobody here reads parts of earlier stages.');
  const check = new PartCheck(part);
  const pieces = environment.readPart(part, signal)[Symbol.asyncIterator]();
  // Not `for await` around the engine: when it gives up on a damaged part, the rest is looked at too, to say so.
  const checked: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const next = await pieces.next().catch((cause: unknown) => {
          throwIfAborted(signal);
          throw notRead('it cannot be read', part, cause);
        });
        if (next.done !== true) check.add(next.value);
        else check.finish();
        return next;
      },
      return: async () => ({ done: true, value: undefined }),
    }),
  };
  try {
    const { catalog, schema, table } = input;
    await lease.ingest({ catalog, schema, table }, checked, signal);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof QueryError && error.category === 'user') await readRest(pieces, check);
    throw error;
  } finally {
    await pieces.return?.();
  }
}

async function readRest(pieces: AsyncIterator<Uint8Array>, check: PartCheck): Promise<void> {
  if (check.isFinished) return;
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) check.add(next.value);
  check.finish();
}

/** Throws as soon as a part is seen not to be what was written. */
class PartCheck {
  isFinished = false;
  readonly #hash = createHash('sha256');
  readonly #part: InputPart;
  #bytes = 0;

  constructor(part: InputPart) {
    this.#part = part;
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.byteLength;
    if (this.#bytes > this.#part.bytes) throw this.#changed('it has more bytes');
    this.#hash.update(piece);
  }

  finish(): void {
    this.isFinished = true;
    if (this.#bytes < this.#part.bytes) throw this.#changed('it is cut short');
    if (this.#hash.digest('hex') !== this.#part.sha256) throw this.#changed('its bytes are others');
  }

  #changed(problem: string): QueryError {
    return notRead(problem, this.#part);
  }
}

/** Its address is a secret. It is the service's own, so no word of it is about the user's tables. */
function notRead(problem: string, { bytes }: InputPart, cause?: unknown): QueryError {
  return new QueryError(
    'STORAGE_ERROR',
    `A part of ${bytes} bytes of an earlier stage's rows is not what was written: ${problem}.`,
    { retryable: true, cause },
  );
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

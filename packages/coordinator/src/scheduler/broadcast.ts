/**
 * Rows of a stage for every fragment that reads them: within each fragment where they are few, else once for all of them in
 * the spool, where each fragment finds them by signed addresses of its own.
 */
import { createHash } from 'node:crypto';
import { type Config, type Logger, QueryError, throwIfAborted } from '@svc/base';
import type { EngineMessage } from '@svc/engine';
import type { InputPart, InputRows } from '@svc/fragment-fn';
import { newSpoolFolder, removeSpooled, type Spool, signAll } from '../spool/spool.js';
import { ipcBytes } from './ipc-stream.js';

export interface BroadcastRules {
  /** Of all rows of a stage. */
  readonly maxBytes: number;
  /** Of rows that travel within fragments. */
  readonly inlineBytes: number;
  /** Without one all rows do. */
  readonly spool: Spool | undefined;
  /** Of an object in the spool. */
  readonly partBytes?: number;
  readonly logger: Logger;
}

interface StoredPart extends Omit<InputPart, 'url'> {
  readonly location: string;
}

type Held = Pick<EngineMessage, 'header' | 'body'>;

const defaultPartBytes = 8 * 1024 * 1024;
/** Servers end what they have been sent until then. */
const lateWriteMs = 30_000;
/** Of rows that every task has in it, and this process in its memory. */
const maxInlineBytes = 32 * 1024 * 1024;

/** Of the rows of a stage that every fragment behind it may be given. */
export function broadcastBytes(config: Config): number {
  const given = config['fragments.broadcast_bytes'];
  return config['fragments.spool_location'] === undefined ? Math.min(given, maxInlineBytes) : given;
}

export class Broadcast {
  readonly #rules: BroadcastRules;
  readonly #folder: string | undefined;
  readonly #stored: StoredPart[] = [];
  /** Objects that may be there. */
  readonly #locations: string[] = [];
  #inline: Uint8Array | undefined;

  constructor(rules: BroadcastRules, queryId: string) {
    this.#rules = rules;
    this.#folder = rules.spool && newSpoolFolder(rules.spool, queryId);
  }

  /** Once: takes all rows of the stage. Throws NOT_SUPPORTED where they are more than may be handed on, STORAGE_ERROR. */
  async fill(
    stage: string,
    schema: Uint8Array,
    messages: AsyncIterable<EngineMessage>,
    signal: AbortSignal,
  ): Promise<void> {
    const { maxBytes, inlineBytes, spool, partBytes = defaultPartBytes } = this.#rules;
    let held: Held[] = [];
    let [totalBytes, heldBytes, hasDictionaries] = [0, 0, false];
    for await (const message of messages) {
      try {
        const bytes = message.header.byteLength + message.body.byteLength;
        totalBytes += bytes;
        if (totalBytes > maxBytes) throw tooMany(stage, maxBytes);
        // Batches need the dictionaries before them, so that such rows stay one stream.
        hasDictionaries ||= message.kind === 'dictionary';
        const isStored = spool !== undefined && totalBytes > inlineBytes && !hasDictionaries;
        if (isStored && heldBytes > 0 && heldBytes + bytes > partBytes) {
          await this.#put(spool, ipcBytes(schema, held), signal);
          [held, heldBytes] = [[], 0];
        }
        held.push({ header: Uint8Array.from(message.header), body: Uint8Array.from(message.body) });
        heldBytes += bytes;
      } finally {
        message.release();
      }
    }
    const rest = ipcBytes(schema, held);
    if (spool !== undefined && totalBytes > inlineBytes) await this.#put(spool, rest, signal);
    else this.#inline = rest;
  }

  /** For one fragment, which may begin within minutes. */
  async rows(signal: AbortSignal): Promise<InputRows> {
    const { spool } = this.#rules;
    if (this.#inline !== undefined || spool === undefined)
      return { kind: 'bytes', stream: this.#inline ?? new Uint8Array(0) };
    const locations = this.#stored.map(({ location }) => location);
    const urls = await signAll(spool, 'GET', locations, signal);
    const parts = this.#stored.map(({ bytes, sha256 }, index) => ({ url: urls[index] ?? '', bytes, sha256 }));
    return { kind: 'parts', parts };
  }

  /** Nothing of it stays in the spool. Never throws. */
  async remove(): Promise<void> {
    const { spool, logger } = this.#rules;
    if (spool !== undefined && this.#locations.length > 0)
      await removeSpooled(spool, this.#locations.splice(0), logger);
  }

  async #put(spool: Spool, content: Uint8Array, signal: AbortSignal): Promise<void> {
    const location = `${this.#folder}/rows-${this.#locations.length}`;
    this.#locations.push(location);
    try {
      await spool.store.write(location, content, { signal });
    } catch (cause) {
      // A server that has had all of it may put it there behind what removes it.
      spool.late.watch(() => removeSpooled(spool, [location], this.#rules.logger), lateWriteMs);
      throwIfAborted(signal);
      // Of the service's own bucket: nothing of it is the user's to know.
      throw new QueryError('STORAGE_ERROR', 'The rows of a stage cannot be put into the spool.', { cause });
    }
    const sha256 = createHash('sha256').update(content).digest('hex');
    this.#stored.push({ location, bytes: content.byteLength, sha256 });
  }
}

function tooMany(stage: string, maxBytes: number): QueryError {
  return new QueryError(
    'NOT_SUPPORTED',
    `The rows of stage ${stage}, which every fragment behind it needs, are more than ${maxBytes} bytes (fragments.broadcast_bytes).`,
  );
}

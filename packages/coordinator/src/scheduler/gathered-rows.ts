/**
 * The rows of one stage, from its splits to who reads them. A split's rows count once it has ended, so they wait here until
 * then: in memory up to a bound, beyond it in a file without a name, and beyond that its executor waits.
 */
import { abortable, QueryError } from '@svc/base';
import type { EngineMessage, SpoolFile } from '@svc/engine';
import { Fifo } from './fifo.js';

export interface GatheredRowsOptions {
  readonly memoryBytes: number;
  /** How long the reader may take for one message while executors wait for it. */
  readonly slowReaderMs: number;
  readonly openSpool: () => SpoolFile;
  /** There is room again. */
  readonly onRoom: () => void;
}

/** The rows of one attempt at a split. Ends with `commit` or `drop`; whichever comes first counts. */
export interface SplitRows {
  /**
   * Copies the message and releases it: what it lies in may be bounded, and larger. Throws DISK_FULL where the rows of splits
   * that have not ended find no room, SLOW_CONSUMER.
   */
  add(message: EngineMessage, signal: AbortSignal): Promise<void>;
  commit(): void;
  drop(): void;
}

interface HeldMessage {
  readonly kind: EngineMessage['kind'];
  readonly header: Uint8Array;
  readonly rowCount: number;
  readonly bodyBytes: number;
  body: Uint8Array | undefined;
  /** Of a body that is in the spool. */
  readonly offset: number;
  /** Of memory. */
  readonly heldBytes: number;
}

/** Of a message, besides its bytes. */
const overheadBytes = 256;

export class GatheredRows {
  readonly #options: GatheredRowsOptions;
  readonly #committed = new Fifo<HeldMessage>();
  #spool: SpoolFile | undefined;
  #spoolWork = Promise.resolve();
  #heldBytes = 0;
  #spooledBytes = 0;
  #schema: Uint8Array | undefined;
  #state: 'open' | 'complete' | 'closed' = 'open';
  #error: QueryError | undefined;
  #tooLarge: QueryError | undefined;
  /** Messages that the reader has. */
  #lent = 0;
  #openAttempts = 0;
  #waitingAttempts = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: GatheredRowsOptions) {
    this.#options = options;
  }

  /** No more splits are begun until there is room. */
  get isFull(): boolean {
    return this.#heldBytes + this.#spooledBytes >= this.#options.memoryBytes;
  }

  /**
   * What `add` threw of a split whose rows found no room although it had all of it: they will not at another try either.
   * Where several splits share the room, the one that gives up makes some for the others, and for itself later.
   */
  get tooLarge(): QueryError | undefined {
    return this.#tooLarge;
  }

  /** Encapsulated Arrow IPC schema message; known once a split has been begun. */
  get schema(): Uint8Array | undefined {
    return this.#schema;
  }

  /** Answers the schema that counts: the first one. */
  begin(schema: Uint8Array): Uint8Array {
    this.#schema ??= schema;
    return this.#schema;
  }

  open(): SplitRows {
    const held: HeldMessage[] = [];
    let isOpen = true;
    this.#openAttempts += 1;
    const end = () => {
      isOpen = false;
      this.#openAttempts -= 1;
    };
    const drop = () => {
      if (!isOpen) return;
      end();
      for (const message of held.splice(0)) this.#free(message);
    };
    return {
      add: async (message, signal) => {
        const kept = await this.#hold(message, signal);
        if (isOpen && this.#state !== 'closed') held.push(kept);
        else this.#free(kept);
      },
      commit: () => {
        if (this.#state !== 'open') return drop();
        if (!isOpen) return;
        end();
        for (const message of held.splice(0)) this.#committed.push(message);
        this.#wake();
      },
      drop,
    };
  }

  /** All splits have ended. */
  complete(): void {
    if (this.#state !== 'open') return;
    this.#state = 'complete';
    this.#wake();
  }

  /** The reader learns of it at its next pull. */
  fail(error: QueryError): void {
    if (this.#state === 'closed') return;
    this.#error ??= error;
    void this.close();
  }

  /** Resolves when all rows are here, or so many that they must be read for more to come. */
  async ready(signal: AbortSignal): Promise<void> {
    while (this.#state === 'open' && !(this.#committed.length > 0 && this.#isCrowded))
      await this.#change(signal);
    if (this.#error !== undefined) throw this.#error;
  }

  /** Resolves when there is a message to be read, or will be none. */
  async begun(signal: AbortSignal): Promise<void> {
    while (this.#state === 'open' && this.#committed.length === 0) await this.#change(signal);
    if (this.#error !== undefined) throw this.#error;
  }

  /** Once. Ended early it gives up what is unread. Messages are to be released. */
  messages(signal: AbortSignal): AsyncIterableIterator<EngineMessage> {
    const iterator: AsyncIterableIterator<EngineMessage> = {
      next: async () => {
        for (;;) {
          if (this.#error !== undefined) throw this.#error;
          const message = this.#committed.shift();
          if (message !== undefined) return { done: false, value: await this.#deliver(message) };
          if (this.#state !== 'open') {
            await this.close();
            return { done: true, value: undefined };
          }
          await this.#change(signal);
        }
      },
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Gives up everything. Idempotent. */
  async close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#state = 'closed';
      for (let next = this.#committed.shift(); next !== undefined; next = this.#committed.shift())
        this.#free(next);
      this.#wake();
    }
    await this.#spoolWork;
    await this.#spool?.close();
    this.#spool = undefined;
  }

  /** Half full: what comes next may need the room. */
  get #isCrowded(): boolean {
    return this.#heldBytes >= this.#options.memoryBytes / 2 || this.#spool !== undefined;
  }

  async #hold(message: EngineMessage, signal: AbortSignal): Promise<HeldMessage> {
    const { kind, rowCount, header, body } = message;
    const bodyBytes = body.byteLength;
    const base = { kind, rowCount, bodyBytes, header: Uint8Array.from(header) };
    const smallBytes = header.byteLength + overheadBytes;
    try {
      for (;;) {
        if (this.#heldBytes + bodyBytes + smallBytes <= this.#options.memoryBytes || bodyBytes === 0) {
          const heldBytes = bodyBytes + smallBytes;
          this.#heldBytes += heldBytes;
          return { ...base, body: Uint8Array.from(body), offset: 0, heldBytes };
        }
        const offset = await this.#spooled(body);
        if (offset !== undefined) {
          this.#heldBytes += smallBytes;
          this.#spooledBytes += bodyBytes;
          return { ...base, body: undefined, offset, heldBytes: smallBytes };
        }
        await this.#room(signal);
      }
    } finally {
      message.release();
    }
  }

  /** Nothing, where the budget is used up or nobody will read it. */
  async #spooled(body: Uint8Array): Promise<number | undefined> {
    if (this.#state === 'closed') throw this.#error ?? abandoned();
    this.#spool ??= this.#options.openSpool();
    const written = this.#spool.append(body);
    if (written === undefined) return undefined;
    this.#track(written);
    this.#wake();
    return await written;
  }

  async #room(signal: AbortSignal): Promise<void> {
    if (this.#state === 'closed') throw this.#error ?? abandoned();
    const isStuck = this.#waitingAttempts + 1 >= this.#openAttempts;
    if (isStuck && this.#committed.length === 0 && this.#lent === 0) {
      const error = new QueryError(
        'DISK_FULL',
        'The rows of splits that have not ended need more room than fragments.gather_bytes and query.spool_bytes give them.',
      );
      if (this.#openAttempts === 1) this.#tooLarge = error;
      throw error;
    }
    const { slowReaderMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const tooSlow = () =>
        reject(
          new QueryError(
            'SLOW_CONSUMER',
            'The result has not been read for too long, and what is unread has used up its room.',
          ),
        );
      timer = setTimeout(tooSlow, slowReaderMs);
      timer.unref();
    });
    this.#waitingAttempts += 1;
    try {
      await Promise.race([this.#change(signal), late]);
    } finally {
      this.#waitingAttempts -= 1;
      clearTimeout(timer);
    }
  }

  async #deliver(message: HeldMessage): Promise<EngineMessage> {
    const { kind, header, rowCount, bodyBytes, offset } = message;
    let { body } = message;
    if (body === undefined) {
      body = Buffer.allocUnsafeSlow(bodyBytes);
      const read = this.#spool?.read(offset, body);
      if (read === undefined) throw this.#error ?? abandoned();
      this.#track(read);
      await read;
    }
    let isHeld = true;
    this.#lent += 1;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      this.#lent -= 1;
      this.#free(message);
    };
    return { kind, header, body, rowCount, release };
  }

  #free({ heldBytes, body, bodyBytes }: HeldMessage): void {
    const wasFull = this.isFull;
    this.#heldBytes -= heldBytes;
    if (body === undefined) this.#spooledBytes -= bodyBytes;
    this.#wake();
    if (wasFull && !this.isFull) this.#options.onRoom();
  }

  async #change(signal: AbortSignal): Promise<void> {
    let wake: (() => void) | undefined;
    try {
      await abortable(
        new Promise<void>((resolve) => {
          wake = resolve;
          this.#waiting.add(resolve);
        }),
        signal,
      );
    } finally {
      if (wake !== undefined) this.#waiting.delete(wake);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** The file is closed behind all that is done with it. */
  #track(work: Promise<unknown>): void {
    this.#spoolWork = Promise.allSettled([this.#spoolWork, work]).then(() => undefined);
  }
}

function abandoned(): QueryError {
  return new QueryError('CANCELLED', 'The rows of a stage were given up by their reader.');
}

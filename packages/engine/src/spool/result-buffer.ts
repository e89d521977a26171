import { QueryError } from '@svc/base';
import type { EngineMessage } from '../api.js';
import type { SlotReader } from '../shm/slot-reader.js';
import type { SpoolBudget } from './spool-budget.js';
import { SpoolFile } from './spool-file.js';

/** A part of a message body as it arrived from the host; most messages are one piece. */
export interface ResultPiece {
  /** On the first piece of each message. */
  readonly message?: {
    readonly kind: 'dictionary' | 'batch';
    readonly rowCount: number;
    readonly bodyBytes: number;
  };
  readonly header: Buffer;
  readonly byteLength: number;
  /** Where the bytes are: a slot that the result owns, or these bytes. */
  readonly slot?: number;
  readonly inline?: Buffer;
}

export interface SpoolPolicy {
  readonly folder: string;
  readonly budget: SpoolBudget;
  /** How long the ring may be full without a credit before the result goes on into a file. */
  readonly spoolAfterMs: number;
  /** How long a reader over its budget may take for one message before the statement is given up. */
  readonly slowConsumerMs: number;
}

export interface ResultBufferOptions {
  readonly slots: SlotReader;
  readonly policy: SpoolPolicy;
  /** Called at most once, when the reader does not want the rest or cannot have it: ends the statement. */
  readonly onAbandon: () => void;
  /** Called once, when nothing of the result is left to read. */
  readonly onClosed: () => void;
}

interface Entry {
  readonly piece: ResultPiece;
  slot: number | undefined;
  /** Set once the piece is on its way to the spool; resolves to its offset there. */
  spooled: Promise<number> | undefined;
}

/** Slots that stay for the engine while the reader holds on to what it was given. */
const SLOTS_KEPT_FROM_READER = 2;

/**
 * Between host and reader of one result. Pieces wait in their slots, in order; when the reader stops, they move to
 * the spool so that the host can go on.
 *
 * States: open (the engine is producing), ended (it is done; the rest waits to be read), closed (all read, failed,
 * or abandoned). A failure drops what is unread: the reader learns of it at its next pull.
 */
export class ResultBuffer {
  readonly #options: ResultBufferOptions;
  readonly #spool: SpoolFile;
  readonly #queue: Entry[] = [];
  #state: 'open' | 'ended' | 'closed' = 'open';
  #error: QueryError | undefined;
  #isSpooling = false;
  #isWriting = false;
  #isOverBudget = false;
  /** Slots of this result that have not been credited: queued or with the reader. */
  #heldSlots = 0;
  #readerSlots = 0;
  #stallTimer: NodeJS.Timeout | undefined;
  #wakeReader: (() => void) | undefined;
  #fileWork: Promise<unknown> = Promise.resolve();

  constructor(options: ResultBufferOptions) {
    this.#options = options;
    this.#spool = new SpoolFile(options.policy.folder, options.policy.budget);
  }

  /** Takes a piece from the host; the slot must have been taken in the reader's name. */
  add(piece: ResultPiece): void {
    if (piece.slot !== undefined) this.#heldSlots++;
    if (this.#state !== 'open') {
      if (piece.slot !== undefined) this.#credit(piece.slot);
      return;
    }
    this.#queue.push({ piece, slot: piece.slot, spooled: undefined });
    this.#wakeReader?.();
    if (this.#isSpooling) this.#spoolQueue();
    this.#watchForStall();
  }

  /** The engine is done; what has arrived stays readable. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ended';
    this.#isOverBudget = false;
    this.#wakeReader?.();
    this.#watchForStall();
  }

  /** Drops everything unread and makes the next pull throw. Without effect once closed. */
  fail(error: QueryError): void {
    if (this.#state === 'closed') return;
    this.#error = error;
    this.#close();
  }

  /**
   * The messages, once. Ending the iteration early abandons the statement, also while a pull is waiting (a
   * generator would first wait for that pull).
   */
  messages(): AsyncIterableIterator<EngineMessage> {
    const iterator: AsyncIterableIterator<EngineMessage> = {
      next: async () => {
        const entry = await this.#nextEntry();
        if (entry) return { done: false, value: await this.#deliver(entry) };
        this.#close();
        return { done: true, value: undefined };
      },
      return: async () => {
        this.#close();
        await this.#fileWork;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async #nextEntry(): Promise<Entry | undefined> {
    for (;;) {
      if (this.#error) throw this.#error;
      const entry = this.#queue.shift();
      if (entry) return entry;
      if (this.#state !== 'open') return undefined;
      // The reader has caught up: the shared memory is enough again.
      this.#isSpooling = false;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
  }

  async #deliver(entry: Entry): Promise<EngineMessage> {
    this.#refuseIfClosed(entry);
    const { message, header } = entry.piece;
    if (!message) throw this.#brokenHost();
    const isWhole = message.bodyBytes === entry.piece.byteLength;
    const mayLend = this.#readerSlots < this.#options.slots.layout.slotsPerResult - SLOTS_KEPT_FROM_READER;
    const base = { kind: message.kind, header, rowCount: message.rowCount };
    if (isWhole && entry.slot !== undefined && entry.spooled === undefined && mayLend) {
      return { ...base, ...this.#lend(entry.slot, entry.piece.byteLength) };
    }
    if (isWhole && entry.piece.inline) return { ...base, body: entry.piece.inline, release: () => undefined };
    return { ...base, body: await this.#assemble(entry, message.bodyBytes), release: () => undefined };
  }

  /** The result may have failed or been abandoned between taking the entry from the queue and using it. */
  #refuseIfClosed(entry: Entry): void {
    if (this.#state !== 'closed') return;
    if (entry.slot !== undefined && entry.spooled === undefined) this.#credit(entry.slot);
    throw this.#error ?? new QueryError('CANCELLED', 'The result was abandoned by its reader.');
  }

  #lend(slot: number, byteLength: number): { readonly body: Buffer; release(): void } {
    this.#readerSlots++;
    let isLent = true;
    return {
      body: this.#options.slots.view(slot, byteLength),
      release: () => {
        if (!isLent) return;
        isLent = false;
        this.#readerSlots--;
        this.#credit(slot);
      },
    };
  }

  /** Copies a message together that lies in several pieces, in the spool, or in a slot that cannot be lent. */
  async #assemble(first: Entry, bodyBytes: number): Promise<Buffer> {
    if (bodyBytes > this.#options.slots.layout.maxBodyBytes) throw this.#brokenHost();
    const body = Buffer.allocUnsafeSlow(bodyBytes);
    let entry = first;
    for (let offset = 0; ; ) {
      const target = body.subarray(offset, offset + entry.piece.byteLength);
      if (target.length !== entry.piece.byteLength) throw this.#brokenHost();
      await this.#copyOut(entry, target);
      offset += target.length;
      if (offset === bodyBytes) return body;
      const next = await this.#nextEntry();
      if (!next || next.piece.message) throw this.#brokenHost();
      entry = next;
    }
  }

  async #copyOut(entry: Entry, target: Buffer): Promise<void> {
    this.#refuseIfClosed(entry);
    if (entry.spooled !== undefined) {
      const work = entry.spooled.then((offset) => this.#spool.read(offset, target));
      this.#track(work);
      await work;
      this.#watchForStall();
    } else if (entry.slot !== undefined) {
      this.#options.slots.view(entry.slot, target.length).copy(target);
      this.#credit(entry.slot);
    } else {
      entry.piece.inline?.copy(target);
    }
  }

  /** Starts the clock when the host cannot go on, or is done with slots still full; restarts it at each progress. */
  #watchForStall(): void {
    clearTimeout(this.#stallTimer);
    const isFull = this.#heldSlots >= this.#options.slots.layout.slotsPerResult;
    const keepsSlots = this.#state === 'ended' && this.#queue.some((entry) => entry.slot !== undefined);
    if (this.#state === 'closed' || !(isFull || keepsSlots)) return;
    const { spoolAfterMs, slowConsumerMs } = this.#options.policy;
    this.#stallTimer = setTimeout(
      () => this.#onStall(),
      this.#isOverBudget ? slowConsumerMs : spoolAfterMs,
    ).unref();
  }

  #onStall(): void {
    if (this.#isOverBudget) {
      const budget = this.#options.policy.budget.perResultBytes;
      this.fail(
        new QueryError(
          'SLOW_CONSUMER',
          `The client has not read its result for too long and what it left unread is above ${budget} bytes.`,
        ),
      );
      return;
    }
    this.#isSpooling = true;
    this.#spoolQueue();
  }

  /** Moves queued slots to the spool, oldest first, one at a time. */
  #spoolQueue(): void {
    if (this.#isWriting) return;
    const entry = this.#queue.find(
      (candidate) => candidate.slot !== undefined && candidate.spooled === undefined,
    );
    const { slot } = entry ?? {};
    if (!entry || slot === undefined || this.#state === 'closed') return;
    const written = this.#spool.append(this.#options.slots.view(slot, entry.piece.byteLength));
    if (written === undefined) {
      this.#isSpooling = false;
      this.#isOverBudget = this.#state === 'open';
      if (this.#isOverBudget) this.#watchForStall();
      return;
    }
    this.#isWriting = true;
    entry.spooled = written;
    this.#track(
      written.then(
        () => this.#onSpooled(entry, slot),
        (error: unknown) => {
          this.#isWriting = false;
          this.#credit(slot);
          this.fail(QueryError.from(error));
        },
      ),
    );
  }

  #onSpooled(entry: Entry, slot: number): void {
    this.#isWriting = false;
    entry.slot = undefined;
    this.#credit(slot);
    if (this.#isSpooling) this.#spoolQueue();
  }

  #credit(slot: number): void {
    this.#heldSlots--;
    this.#isOverBudget = false;
    this.#options.slots.release(slot);
    this.#watchForStall();
  }

  /** File operations are awaited before the file is closed; their failures surface where they are used. */
  #track(work: Promise<unknown>): void {
    this.#fileWork = Promise.allSettled([this.#fileWork, work]).then(() => undefined);
  }

  #close(): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    clearTimeout(this.#stallTimer);
    for (const entry of this.#queue.splice(0)) {
      // A slot that is being written is credited when the write is over.
      if (entry.slot !== undefined && entry.spooled === undefined) this.#credit(entry.slot);
    }
    this.#fileWork = this.#fileWork.then(() => this.#spool.close());
    this.#wakeReader?.();
    if (wasOpen) this.#options.onAbandon();
    this.#options.onClosed();
  }

  #brokenHost(): QueryError {
    return new QueryError('INTERNAL_ERROR', 'The engine sent a result message that does not fit together.');
  }
}

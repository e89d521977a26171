/** The rows of one stage, for the stages that read them. */
import { QueryError } from '@svc/base';
import type { InputRows } from '@svc/fragment-fn';
import { Broadcast, type BroadcastRules } from './broadcast.js';
import type { GatheredRows } from './gathered-rows.js';
import { ipcStream } from './ipc-stream.js';

export interface StageOutputOptions {
  readonly stage: string;
  readonly queryId: string;
  readonly rows: GatheredRows;
  readonly ended: Promise<void>;
  /** Whether it holds an engine of this process until it has ended: who waits for such an engine waits for its end. */
  readonly isLocal: boolean;
  readonly broadcast: BroadcastRules;
  readonly signal: AbortSignal;
}

export class StageOutput {
  readonly #options: StageOutputOptions;
  #filled: Promise<Broadcast> | undefined;

  constructor(options: StageOutputOptions) {
    this.#options = options;
  }

  /** For the only reader, here: as they are made. */
  async stream(): Promise<InputRows> {
    const { rows, ended, isLocal, signal } = this.#options;
    if (isLocal) await ended;
    await rows.ready(signal);
    const schema = this.#schema();
    return { kind: 'stream', open: (reading) => ipcStream(schema, rows.messages(reading)) };
  }

  /** For all fragments that read them: each calls what is answered, for itself. */
  async broadcast(): Promise<Broadcast> {
    this.#filled ??= this.#fill();
    return await this.#filled;
  }

  /** Everything has ended by then. Never throws. */
  async close(): Promise<void> {
    const { rows, ended } = this.#options;
    await rows.close();
    await ended;
    const broadcast = await this.#filled?.catch(() => undefined);
    await broadcast?.remove();
  }

  async #fill(): Promise<Broadcast> {
    const { stage, queryId, rows, broadcast: rules, signal } = this.#options;
    await rows.begun(signal);
    const broadcast = new Broadcast(rules, queryId);
    try {
      await broadcast.fill(stage, this.#schema(), rows.messages(signal), signal);
      return broadcast;
    } catch (error) {
      await broadcast.remove();
      throw error;
    }
  }

  #schema(): Uint8Array {
    const { schema } = this.#options.rows;
    if (schema === undefined) throw new QueryError('INTERNAL_ERROR', 'A stage has no schema.');
    return schema;
  }
}

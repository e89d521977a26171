/** What a statement answers, whichever session it came from. */

/** One Arrow IPC message; `release` gives its memory back. */
export interface AnswerMessage {
  /** Message flatbuffer without its prefix. */
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  release(): void;
}

export interface Answer {
  /** Encapsulated Arrow IPC schema. */
  readonly schema: Uint8Array;
  /** Dictionaries and batches; read to the end or returned early, which cancels the statement. */
  readonly messages: AsyncIterable<AnswerMessage>;
}

/** How far a statement is; what is not known is absent. */
export interface Progress {
  /** 0 to 1. */
  readonly fraction?: number | undefined;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A place where statements run, one at a time. */
export interface SqlSession {
  /** Starts a statement. Throws QueryError. */
  run(sql: string, options: RunOptions): Promise<Answer>;
  /** For the shell's greeting: what this is connected to. */
  readonly description: string;
  /** Idempotent. */
  close(): Promise<void>;
}

import type { SerializedError } from '@svc/base';
import type { EngineTableName } from '../api.js';

/**
 * What parent and host say to each other. One statement at a time: the parent sends a request with an id, the host
 * answers frames with that id, the last of them `done` or `failed`. 64-bit numbers travel as decimal text.
 */

/** Descriptors of the host process. */
export const hostFds = {
  /** Frames, both ways; the host's main thread reads and writes it, blocking. */
  requests: 3,
  /** Control messages, both ways; the host's watcher thread owns it. */
  control: 4,
  /** The shared mapping. */
  ring: 5,
} as const;

export type HostRequest =
  | { readonly op: 'open'; readonly id: number }
  | { readonly op: 'execute'; readonly id: number; readonly statements: readonly string[] }
  | {
      readonly op: 'queryText';
      readonly id: number;
      readonly sql: string;
      readonly parameters: readonly string[];
    }
  | { readonly op: 'describe'; readonly id: number; readonly sql: string }
  /** The body is the parameters' IPC stream, empty without parameters. */
  | {
      readonly op: 'query';
      readonly id: number;
      /** Run first, as by `execute`. */
      readonly before: readonly string[];
      readonly sql: string;
      readonly arrow: 'lossless' | 'client';
      readonly isLast: boolean;
    }
  /** The body is the encapsulated schema, then columns and files as JSON. */
  | {
      readonly op: 'readParquet';
      readonly id: number;
      readonly schemaBytes: number;
      readonly isLast: boolean;
    }
  /** Followed by `chunk` frames and one `chunksEnd`. */
  | { readonly op: 'ingest'; readonly id: number; readonly table: EngineTableName }
  | { readonly op: 'reset'; readonly id: number };

/**
 * A query and a reading of files may be the last request of a lease (`isLast`). Where it succeeds the host goes on to do what
 * `reset` does, without being asked and without an answer.
 */

/** Parent to host outside of the request order; what belongs to no running request is ignored. */
export type HostSignal =
  | { readonly op: 'credit'; readonly slot: number }
  | { readonly op: 'stop'; readonly id: number }
  | { readonly op: 'chunk'; readonly id: number }
  | { readonly op: 'chunksEnd'; readonly id: number };

export type ToHost = HostRequest | HostSignal;

export interface SerializedProfile {
  readonly rowsReturned: string;
  readonly rowsScanned: string;
  readonly spilledBytes: string;
  readonly peakMemoryBytes: string;
  readonly cpuSeconds: number;
}

/** The Arrow message that a piece begins. */
export interface MessageHead {
  readonly kind: 'dictionary' | 'batch';
  readonly rowCount: number;
  readonly bodyBytes: number;
}

/** The first frame of a host: its process is set up, its memory limit in force. */
export interface HostReady {
  readonly type: 'ready';
}

export type RequestFrame =
  /** The body is the encapsulated schema. */
  | { readonly type: 'schema'; readonly id: number }
  /**
   * A piece of a message body. `message` is on the first piece of each message, whose frame body starts with the
   * Message flatbuffer (`headerBytes`). The piece lies in `slot`, or without one behind the header in the frame.
   * A body larger than a slot comes as several pieces.
   */
  | {
      readonly type: 'piece';
      readonly id: number;
      readonly message?: MessageHead;
      readonly headerBytes: number;
      readonly slot?: number;
      readonly byteLength: number;
    }
  | { readonly type: 'done'; readonly id: number; readonly answer: HostAnswer }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly error: SerializedError;
      readonly mustRecycle: boolean;
      /** Of an internal error: what happened, for the log and never for the user. */
      readonly detail?: string;
    };

export type FromHost = HostReady | RequestFrame;

/** What the last frame of a request carries; bytes are in the frame body, divided by the lengths. */
export type HostAnswer =
  | { readonly of: 'open' | 'execute' | 'reset' }
  | { readonly of: 'queryText'; readonly text: string }
  | {
      readonly of: 'describe';
      readonly schemaBytes: number;
      readonly parameterSchemaBytes: number;
      readonly parameterCount: number;
    }
  /** Of a query, and of files that were read. */
  | { readonly of: 'result'; readonly profile: SerializedProfile }
  | { readonly of: 'ingest'; readonly rowCount: string };

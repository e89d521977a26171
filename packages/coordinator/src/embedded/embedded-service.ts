import type { Config, Logger, Metrics } from '@svc/base';
import type { EngineProgress } from '@svc/engine';
import type { ResultStream } from '@svc/flight';
import type { PathContext } from '../files/locate-path.js';

export interface EmbeddedOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Of the service; snapshots say who made them. */
  readonly version: string;
  /** What the paths in statements begin from. */
  readonly paths: PathContext;
  /** Starts an engine host at once. Without, the first statement that reads a table waits for one. */
  readonly startsHost: boolean;
}

export interface EmbeddedRunOptions {
  readonly signal: AbortSignal;
  /** Called while an engine works on the statement. */
  readonly onProgress?: ((progress: EngineProgress) => void) | undefined;
}

/** What a statement answers. Its messages must be read to the end or returned early. */
export type EmbeddedResult = Pick<ResultStream, 'schema' | 'messages'>;

/** One session of the local user over the configured catalog folder: no listener, no sign-in. */
export interface EmbeddedService {
  /** Plans and starts one statement; one at a time. Throws QueryError. */
  run(sql: string, options: EmbeddedRunOptions): Promise<EmbeddedResult>;
  /** Ends what runs, and the engines. Idempotent. */
  close(): Promise<void>;
}

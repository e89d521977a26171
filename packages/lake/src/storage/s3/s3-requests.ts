/** One try of a request to S3: sent, counted, and its failure understood. */
import type { Metrics } from '@svc/base';
import { displayLocation } from '../display-location.js';
import { done, type Outcome, type Try } from '../remote/outcome.js';
import type { OpenS3, S3Connection } from './s3-connection.js';
import { isOutlived, type S3Failure, s3Failure, s3Outcome } from './s3-errors.js';

/** The counters of the service that object storage has a part in. */
export type StorageMetrics = Pick<Metrics, 's3Requests' | 's3BytesRead' | 's3BytesWritten'>;

type S3Operation = Parameters<StorageMetrics['s3Requests']['inc']>[0]['operation'];

export interface SendOptions<T> {
  readonly operation: S3Operation;
  readonly location: string;
  readonly attempt: Try;
  readonly send: (s3: OpenS3, options: { readonly abortSignal: AbortSignal }) => Promise<T>;
  /** Looked at before the failure is taken for what it is everywhere: a condition that was not met. */
  readonly onFailure?: (failure: S3Failure) => Outcome<T> | undefined;
}

export class S3Requests {
  readonly metrics: StorageMetrics | undefined;
  readonly #connection: S3Connection;

  constructor(connection: S3Connection, metrics: StorageMetrics | undefined) {
    this.#connection = connection;
    this.metrics = metrics;
  }

  /** Throws what will not pass; ends soon after an abort. */
  async send<T>({ operation, location, attempt, send, onFailure }: SendOptions<T>): Promise<Outcome<T>> {
    const s3 = await this.#connection.open(attempt.signal);
    try {
      const value = await send(s3, { abortSignal: attempt.signal });
      this.metrics?.s3Requests.inc({ operation, status: 'ok' });
      return done(value);
    } catch (caught) {
      // Whoever aborted knows why, and nobody answered.
      const isCancelled = attempt.signal.aborted;
      this.metrics?.s3Requests.inc({ operation, status: isCancelled ? 'cancelled' : 'error' });
      if (isCancelled) throw caught;
      const failure = s3Failure(caught);
      const answered = failure && onFailure?.(failure);
      if (answered !== undefined) return answered;
      const outcome = s3Outcome(caught, displayLocation(location), s3.region);
      if (
        failure !== undefined &&
        isOutlived(failure) &&
        outcome.kind === 'again' &&
        !this.#connection.renew(s3, outcome.error)
      )
        throw outcome.error;
      return outcome;
    }
  }
}

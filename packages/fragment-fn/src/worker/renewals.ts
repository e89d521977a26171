/** The worker's end of "renewed credentials by a call": asks in the task's own call, and reads what comes back. */
import { abortable, QueryError } from '@svc/base';
import type { StoreGrant } from '@svc/lake';
import { type CoordinatorFrame, decodeCoordinatorFrame, type WorkerFrame } from './frames.js';

export interface RenewalOptions {
  /** Sends a frame behind those that are on their way. */
  send(frame: WorkerFrame): void;
  /** The next message of the coordinator; undefined when it has no more to say. */
  read(): Promise<{ readonly metadata: Uint8Array } | undefined>;
}

interface Waiting {
  readonly resolve: (grant: StoreGrant) => void;
  readonly reject: (error: QueryError) => void;
}

export type Renew = (table: number, signal: AbortSignal) => Promise<StoreGrant>;

/** What a task asks for at a time is one for each of its tables, and few of these are near their end. */
const maxWaiting = 256;

export function createRenewals({ send, read }: RenewalOptions): Renew {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let isReading = false;

  const failAll = (error: QueryError) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };

  const settle = (frame: CoordinatorFrame) => {
    if (frame.kind === 'piece') throw new QueryError('FRAGMENT_REFUSED', 'More of a task came than it has.');
    const asked = waiting.get(frame.id);
    waiting.delete(frame.id);
    if (frame.kind === 'grant') asked?.resolve(frame.grant);
    else asked?.reject(QueryError.fromSerialized(frame.error));
  };

  /** Reads for as long as somebody waits. */
  const readAnswers = async () => {
    if (isReading) return;
    isReading = true;
    try {
      while (waiting.size > 0) {
        const message = await read();
        if (message === undefined)
          throw new QueryError(
            'STORAGE_ACCESS_DENIED',
            'The credentials have ended, and the coordinator gives no others.',
          );
        settle(decodeCoordinatorFrame(message.metadata));
      }
    } catch (caught) {
      failAll(QueryError.from(caught));
    } finally {
      isReading = false;
    }
  };

  return async (table, signal) => {
    if (waiting.size >= maxWaiting)
      throw new QueryError('INTERNAL_ERROR', `More than ${maxWaiting} renewals are asked for at a time.`);
    lastId += 1;
    const id = lastId;
    const granted = new Promise<StoreGrant>((resolve, reject) => waiting.set(id, { resolve, reject }));
    send({ kind: 'renew', id, table });
    void readAnswers();
    return await abortable(granted, signal);
  };
}

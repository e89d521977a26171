/** Executors for tests: each split's rows are its own numbers, and what goes wrong is told beforehand. */
import { delay, QueryError, throwIfAborted } from '@svc/base';
import type { EngineMessage } from '@svc/engine';
import type { FragmentExecutor, FragmentStatistics, FragmentTask, SplitEvent } from '@svc/fragment-fn';

export const schema = new TextEncoder().encode('schema00');

export const statistics: FragmentStatistics = {
  ...{ filesRead: 1, bytesStaged: 10, bytesFetched: 10, rowsScanned: 5n, rowsReturned: 2n },
  ...{ spilledBytes: 0n, peakMemoryBytes: 1n, stagingMs: 1, engineMs: 1 },
};

/** Where in a task something happens: before its schema, in the middle of its n-th split, or behind that one's end. */
export type Moment = 'start' | { readonly in: number } | { readonly after: number };

export interface FakeExecutorOptions {
  readonly name: string;
  readonly kind?: FragmentExecutor['kind'];
  readonly slots?: number;
  /** Asked at each moment of each task: what it throws there. */
  readonly fail?: (moment: Moment, task: FragmentTask) => QueryError | undefined;
  /** Before each split. */
  readonly delayMs?: (split: number) => number;
  /** Bytes of each message. */
  readonly bodyBytes?: number;
  readonly messagesPerSplit?: number;
  /** Changes what is answered. */
  readonly events?: (events: readonly SplitEvent[]) => readonly SplitEvent[];
  readonly schema?: Uint8Array;
}

export interface FakeExecutor extends FragmentExecutor {
  /** Ids of the splits of each task that was started. */
  readonly tasks: readonly (readonly number[])[];
  /** Tasks that have not ended. */
  readonly open: number;
  /** Messages that nobody has released. */
  readonly unreleased: number;
}

export function fakeExecutor(options: FakeExecutorOptions): FakeExecutor {
  const { name, kind = 'workers', slots = 2, fail, delayMs, bodyBytes = 16, messagesPerSplit = 2 } = options;
  const tasks: (readonly number[])[] = [];
  let [open, unreleased] = [0, 0];
  const message = (split: number, index: number): EngineMessage => {
    unreleased += 1;
    let isHeld = true;
    const body = new Uint8Array(bodyBytes);
    new DataView(body.buffer).setUint32(0, split);
    new DataView(body.buffer).setUint32(4, index);
    const release = () => {
      if (isHeld) unreleased -= 1;
      isHeld = false;
    };
    return { kind: 'batch', header: new Uint8Array(8), body, rowCount: 1, release };
  };
  const failAt = (moment: Moment, task: FragmentTask) => {
    const error = fail?.(moment, task);
    if (error !== undefined) throw error;
  };
  return {
    ...{ name, kind, slots, tasks },
    get open() {
      return open;
    },
    get unreleased() {
      return unreleased;
    },
    async start(task, signal) {
      throwIfAborted(signal);
      tasks.push(task.request.splits.map(({ id }) => id));
      failAt('start', task);
      await delay(0, signal);
      open += 1;
      let isOpen = true;
      const close = () => {
        if (isOpen) open -= 1;
        isOpen = false;
      };
      const generate = async function* (): AsyncGenerator<SplitEvent> {
        for (const [index, { id }] of task.request.splits.entries()) {
          await delay(delayMs?.(id) ?? 0, signal);
          const planned: SplitEvent[] = Array.from({ length: messagesPerSplit }, (_, number) => ({
            ...{ kind: 'message', split: id, message: message(id, number) },
          }));
          planned.push({ kind: 'end', split: id, rowCount: BigInt(messagesPerSplit), statistics });
          const events = options.events?.(planned) ?? planned;
          for (const [place, event] of events.entries()) {
            if (place === 1) {
              try {
                failAt({ in: index }, task);
              } catch (error) {
                for (const rest of events.slice(1)) if (rest.kind === 'message') rest.message.release();
                throw error;
              }
            }
            yield event;
          }
          failAt({ after: index }, task);
        }
      };
      const events = generate();
      return {
        schema: options.schema ?? schema,
        events: {
          [Symbol.asyncIterator]: () => ({
            async next() {
              try {
                const next = await events.next();
                if (next.done === true) close();
                return next;
              } catch (error) {
                close();
                throw error;
              }
            },
            async return() {
              close();
              return { done: true, value: undefined };
            },
          }),
        },
      };
    },
  };
}

export function lost(): QueryError {
  return new QueryError('EXECUTOR_LOST', 'gone');
}

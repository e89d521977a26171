/**
 * What another process answers to a task, checked: it may be damaged, of a newer version, or a lie. All that is wrong makes
 * the executor a lost one, whose unfinished splits are run elsewhere.
 */
import { QueryError, type SerializedError } from '@svc/base';
import { MessageCheck } from '@svc/engine';
import type { EventHeader } from '../wire/event-codec.js';
import type { SplitEvent } from './split-task.js';

/** A header and a body of Arrow; both empty where an event has none. */
export interface ArrowParts {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Errors of an executor about itself, and not about the fragment, that are a fault: another one may do better. */
const executorsOwn: ReadonlySet<string> = new Set(['CANCELLED', 'EXECUTOR_TIME_OVER']);

/** Those that are none: it is busy, or goes away. */
const withoutFault: ReadonlySet<string> = new Set(['SHUTTING_DOWN', 'QUEUE_FULL', 'QUEUE_TIMEOUT']);

export class AnswerCheck {
  private readonly executor: string;
  private readonly splits: readonly number[];
  private readonly messages: MessageCheck;
  private place = 0;
  private rowCount = 0n;

  /** `schema`: the Message flatbuffer of the answer's schema. Throws EXECUTOR_LOST. */
  constructor(executor: string, splits: readonly { readonly id: number }[], schema: Uint8Array) {
    this.executor = executor;
    this.splits = splits.map(({ id }) => id);
    this.messages = this.guard(() => new MessageCheck(schema));
  }

  /** Throws EXECUTOR_LOST, and the error that the answer ends with. */
  event(event: EventHeader, { header, body }: ArrowParts): SplitEvent {
    if (event.kind === 'error') throw answeredError(this.executor, event.error);
    const current = this.splits[this.place];
    if (event.split !== current)
      throw this.lost(`it answers for split ${event.split} when ${this.expected(current)}`);
    if (event.kind === 'end') {
      if (header.byteLength > 0 || body.byteLength > 0) throw this.lost('the end of a split has rows');
      if (event.rowCount !== this.rowCount)
        throw this.lost(`split ${current} ends with ${event.rowCount} rows, but ${this.rowCount} came`);
      this.place += 1;
      this.rowCount = 0n;
      return event;
    }
    const { messageKind: kind, rowCount } = event;
    const aligned = alignedBody(body);
    this.guard(() => this.messages.check({ kind, header, body: aligned, rowCount }));
    if (kind === 'batch') this.rowCount += BigInt(rowCount);
    const message = { kind, header, body: aligned, rowCount, release: () => undefined };
    return { kind: 'message', split: event.split, message };
  }

  /** Throws EXECUTOR_LOST when the answer is not complete. */
  end(): void {
    if (this.place < this.splits.length) throw this.lost('its answer ends too soon');
  }

  private expected(split: number | undefined): string {
    return split === undefined ? 'all have ended' : `split ${split} is not over`;
  }

  private guard<T>(look: () => T): T {
    try {
      return look();
    } catch (caught) {
      const error = QueryError.from(caught);
      throw this.lost(error.message, caught);
    }
  }

  private lost(reason: string, cause?: unknown): QueryError {
    return executorLost(this.executor, reason, cause);
  }
}

/** An error that an executor answered. One about the executor itself names it; a fault of its own is that of one that is lost. */
export function answeredError(executor: string, serialized: SerializedError): QueryError {
  const error = QueryError.fromSerialized(serialized);
  return executorsOwn.has(error.code)
    ? executorLost(executor, error.message, error)
    : (noPlace(executor, error) ?? error);
}

/** What it says of having no place for the task, with its name; nothing for any other error. */
export function noPlace(executor: string, error: QueryError): QueryError | undefined {
  if (!withoutFault.has(error.code)) return undefined;
  return new QueryError(error.code, `No place on ${executor}: ${error.message}`, { cause: error });
}

/** EXECUTOR_LOST that names whom. */
export function executorLost(executor: string, reason: string, cause?: unknown): QueryError {
  return new QueryError('EXECUTOR_LOST', `Lost ${executor}: ${reason.replace(/\.$/, '')}.`, { cause });
}

/** Readers of Arrow look at a body by 8 bytes at a time; where it lies in a message of gRPC is up to what is before it. */
function alignedBody(body: Uint8Array): Uint8Array {
  return body.byteOffset % 8 === 0 ? body : new Uint8Array(body);
}

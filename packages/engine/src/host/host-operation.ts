import { QueryError } from '@svc/base';
import type { Frame } from './frame.js';
import type { FromHost, HostAnswer } from './protocol.js';

/** What the frames before the last one are given to; only queries have any. */
export interface FrameReceiver {
  schema(bytes: Buffer): void;
  piece(frame: Frame<FromHost & { type: 'piece' }>): void;
}

export interface OperationAnswer {
  readonly answer: HostAnswer;
  readonly body: Buffer;
}

export interface OperationActions {
  /** Tells the host to stop the request; the host confirms with a control message besides its last frame. */
  sendCancel(id: number): void;
  /** The host did not stop in time. */
  killUnresponsive(): void;
  /** The host may take the next request. */
  onSettled(operation: HostOperation): void;
}

/**
 * One request to a host, from its sending to the moment the host is free again.
 *
 * States: running; cancelling (stop was sent: the caller is answered at once, the host has `cancelGraceMs`); settled.
 * A cancelled request settles when its last frame *and* the watcher's confirmation have come, so that a late
 * interrupt cannot hit the next request.
 */
export class HostOperation {
  readonly id: number;
  readonly receiver: FrameReceiver | undefined;
  /** The last frame, or the error. */
  readonly answer: Promise<OperationAnswer>;
  /** Never rejects. */
  readonly settled: Promise<void>;
  readonly #actions: OperationActions;
  readonly #cancelGraceMs: number;
  #resolve: (answer: OperationAnswer) => void = () => undefined;
  #reject: (error: QueryError) => void = () => undefined;
  #settle: () => void = () => undefined;
  #isSettled = false;
  #isAnswered = false;
  #isCancelling = false;
  #isConfirmed = false;
  #mustRecycle = false;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(
    id: number,
    receiver: FrameReceiver | undefined,
    cancelGraceMs: number,
    actions: OperationActions,
  ) {
    this.id = id;
    this.receiver = receiver;
    this.#actions = actions;
    this.#cancelGraceMs = cancelGraceMs;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever only waits for `settled` must not cause an unhandled rejection.
    this.answer.catch(() => undefined);
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Stopping, or over: the next request may wait for `settled`. */
  get isEnding(): boolean {
    return this.#isCancelling || this.#isAnswered;
  }

  /** The instance must not serve another statement: its own state is in doubt. */
  get mustRecycle(): boolean {
    return this.#mustRecycle;
  }

  /** Fails the caller now and stops the host. Without effect once the host has answered. */
  cancel(error?: QueryError): void {
    if (this.#isCancelling || this.#isAnswered || this.#isSettled) return;
    this.#isCancelling = true;
    this.#reject(error ?? new QueryError('CANCELLED', 'The query was cancelled.'));
    this.#graceTimer = setTimeout(() => this.#onGraceOver(), this.#cancelGraceMs);
    this.#actions.sendCancel(this.id);
  }

  /** When this process itself was busy, the host's answer may lie unread in the pipe: read it before judging. */
  #onGraceOver(): void {
    setImmediate(() => {
      if (!this.#isSettled) this.#actions.killUnresponsive();
    });
  }

  onDone(answer: OperationAnswer): void {
    this.#resolve(answer);
    this.#onLastFrame();
  }

  onFailed(error: QueryError, mustRecycle: boolean): void {
    this.#mustRecycle = mustRecycle;
    this.#reject(error);
    this.#onLastFrame();
  }

  onCancelConfirmed(): void {
    this.#isConfirmed = true;
    this.#settleIfOver();
  }

  /** The host is gone; nothing more will come. */
  onHostGone(error: QueryError): void {
    this.#reject(error);
    this.#isAnswered = true;
    this.#isConfirmed = true;
    this.#settleIfOver();
  }

  #onLastFrame(): void {
    this.#isAnswered = true;
    this.#settleIfOver();
  }

  #settleIfOver(): void {
    if (this.#isSettled || !this.#isAnswered || (this.#isCancelling && !this.#isConfirmed)) return;
    this.#isSettled = true;
    clearTimeout(this.#graceTimer);
    this.#actions.onSettled(this);
    this.#settle();
  }
}

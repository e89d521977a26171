/**
 * The door of a worker: a call is let in by its signature, its task runs when a slot is free, and what comes of it goes
 * back in the same call. It knows nothing of gRPC: a server of `@svc/flight` calls it.
 */
import { createHash, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  abortable,
  errorFields,
  type Logger,
  linkAbort,
  openSpan,
  QueryError,
  withLogContext,
} from '@svc/base';
import type { SplitRun } from '../splits/split-task.js';
import { decodeTask, maxTaskBytes, type RemoteTask } from '../wire/task-codec.js';
import { type AnswerMessage, answerFrames } from './answer-frames.js';
import { FairSlots } from './fair-slots.js';
import { decodeCoordinatorFrame } from './frames.js';
import type { Renew } from './renewals.js';
import { digestOf, signFacts, type VerifiedCall, type VerifiedTask, verifyCall } from './signature.js';
import { UsedIds } from './used-ids.js';
import { type WorkerFacts, writeFacts } from './worker-facts.js';

export interface WorkerDoorOptions {
  readonly key: KeyObject;
  /** Of this process: another after each start. */
  readonly bootId: string;
  readonly version: string;
  readonly slots: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: Logger;
  /** A frame is sent when there was nothing to send for this long. */
  readonly aliveMs: number;
  /** Runs a task whose stores are still to be opened. Throws as `FragmentExecutor.start`. */
  run(task: RemoteTask, options: RunTaskOptions): Promise<SplitRun>;
  /** Told of each task that was let in. */
  onTaskEnd?(outcome: TaskOutcome): void;
}

export interface RunTaskOptions {
  readonly signal: AbortSignal;
  readonly renew: Renew;
}

export type TaskOutcome = 'finished' | 'failed' | 'cancelled';

/** The messages of one call, as they come. */
export interface TaskMessages {
  read(): Promise<{ readonly metadata: Uint8Array; readonly body: Uint8Array } | undefined>;
}

export interface CallFacts {
  readonly signal: AbortSignal;
  readonly clientAddress: string;
}

export interface WorkerDoor {
  /** Throws FRAGMENT_REFUSED. */
  admit(bearer: string | undefined, context: CallFacts): Promise<VerifiedCall>;
  exchange(call: VerifiedCall, messages: TaskMessages, context: CallFacts): AsyncIterable<AnswerMessage>;
  action(call: VerifiedCall, type: string): Promise<Uint8Array>;
  /** From now on heartbeats say so; tasks are refused by the server. */
  drain(): void;
  readonly slots: Pick<FairSlots, 'total' | 'running' | 'waiting'>;
}

/** Waiting tasks cost their coordinators more than asking elsewhere. */
const waitingPerSlot = 4;
const slotWaitMs = 10_000;
/** Between the parts of a task: who sends none holds a slot. */
const pieceTimeoutMs = 15_000;

export const heartbeatAction = 'heartbeat';

export function createWorkerDoor(options: WorkerDoorOptions): WorkerDoor {
  const { key, bootId, version, now, logger } = options;
  const slots = new FairSlots({
    slots: options.slots,
    maxWaiting: options.slots * waitingPerSlot,
    waitMs: slotWaitMs,
  });
  const usedIds = new UsedIds(now);
  let isDraining = false;

  const facts = (): WorkerFacts => ({
    bootId,
    version,
    slots: slots.total,
    running: slots.running,
    waiting: slots.waiting,
    isDraining,
  });

  const refuse = (error: unknown, context: CallFacts): never => {
    const refusal = QueryError.from(error);
    logger.log('warn', 'refused a call', { client_address: context.clientAddress, ...errorFields(refusal) });
    throw refusal;
  };

  return {
    slots,
    drain() {
      isDraining = true;
    },
    async admit(bearer, context) {
      try {
        return await verifyCall(bearer, { key, now, bootId, usedIds });
      } catch (error) {
        return refuse(error, context);
      }
    },
    async action(call, type) {
      if (call.kind !== 'heartbeat') throw notSignedFor('an action');
      if (type !== heartbeatAction) throw new QueryError('NOT_SUPPORTED', `A worker has no action ${type}.`);
      return Buffer.from(await signFacts(writeFacts(facts()), call, { key, now }), 'latin1');
    },
    async *exchange(call, messages, context) {
      if (call.kind !== 'task') refuse(notSignedFor('a task'), context);
      else yield* runCall(call, messages, context);
    },
  };

  async function* runCall(
    call: VerifiedTask,
    messages: TaskMessages,
    context: CallFacts,
  ): AsyncGenerator<AnswerMessage, void, undefined> {
    using _slot = await slots.take(call.coordinator, context.signal);
    const startedAt = performance.now();
    const span = withLogContext({ query_id: call.queryId }, () => openSpan('svc.worker.scan'));
    let outcome: TaskOutcome = 'cancelled';
    try {
      const task = await receiveTask(call, messages, context.signal).catch((error: unknown) =>
        refuse(error, context),
      );
      const run = (runOptions: RunTaskOptions) => span.within(() => options.run(task, runOptions));
      const answer = answerFrames({
        run,
        messages,
        signal: context.signal,
        aliveMs: options.aliveMs,
        logger,
      });
      outcome = (yield* answer) ? 'finished' : 'failed';
    } catch (error) {
      if (!context.signal.aborted) outcome = 'failed';
      throw error;
    } finally {
      span.end(outcome === 'finished' ? undefined : outcome);
      logger.log('debug', 'a task ended', {
        query_id: call.queryId,
        coordinator: call.coordinator,
        outcome,
        duration_ms: Math.round(performance.now() - startedAt),
      });
      options.onTaskEnd?.(outcome);
    }
  }
}

/** Takes the task that was signed, and no other. Throws FRAGMENT_REFUSED. */
async function receiveTask(
  call: VerifiedTask,
  messages: TaskMessages,
  signal: AbortSignal,
): Promise<RemoteTask> {
  if (call.byteLength > maxTaskBytes)
    throw new QueryError('FRAGMENT_REFUSED', `A task of ${call.byteLength} bytes is larger than may travel.`);
  const bytes = Buffer.allocUnsafeSlow(call.byteLength);
  let length = 0;
  while (length < bytes.length) {
    const piece = await nextPiece(messages, signal);
    if (piece.byteLength > bytes.length - length) throw changed();
    bytes.set(piece, length);
    length += piece.byteLength;
  }
  const hash = createHash('sha256').update(bytes).digest();
  const signed = Buffer.from(call.hash, 'base64url');
  if (signed.length !== hash.length || !timingSafeEqual(signed, hash)) throw changed();
  const task = decodeTask(bytes);
  if (digestOf(task.request.owner) !== call.owner || task.request.queryId !== call.queryId)
    throw new QueryError('FRAGMENT_REFUSED', 'The task is of another user or query than its signature.');
  // Two coordinators may give the same name to different users: they never share an engine.
  return { ...task, request: { ...task.request, owner: `${call.coordinator} ${task.request.owner}` } };
}

async function nextPiece(messages: TaskMessages, signal: AbortSignal): Promise<Uint8Array> {
  using limit = linkAbort(
    signal,
    pieceTimeoutMs,
    () => new QueryError('FRAGMENT_REFUSED', 'The rest of the task does not come.'),
  );
  const message = await abortable(messages.read(), limit.signal);
  if (message === undefined)
    throw new QueryError('FRAGMENT_REFUSED', 'The task ends before its signed length.');
  if (decodeCoordinatorFrame(message.metadata).kind !== 'piece' || message.body.byteLength === 0)
    throw new QueryError('FRAGMENT_REFUSED', 'What came is no part of a task.');
  return message.body;
}

function changed(): QueryError {
  return new QueryError('FRAGMENT_REFUSED', 'The task is not the one that was signed.');
}

function notSignedFor(what: string): QueryError {
  return new QueryError('FRAGMENT_REFUSED', `The call is not signed for ${what}.`);
}

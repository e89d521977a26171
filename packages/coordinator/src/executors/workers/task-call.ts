/** The call in which a worker runs a task, from the coordinator's end. */
import { abortable, type LinkedAbort, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type { ExchangeCall } from '@svc/flight';
import { encapsulateHeader } from '@svc/flight/arrow';
import {
  AnswerCheck,
  type ArrowParts,
  answeredError,
  type CoordinatorFrame,
  decodeWorkerFrame,
  encodeCoordinatorFrame,
  executorLost,
  type FragmentTask,
  noPlace,
  type SplitEvent,
  type SplitRun,
  type WorkerFrame,
} from '@svc/fragment-fn';

export interface RunOptions {
  readonly name: string;
  readonly call: ExchangeCall;
  readonly task: FragmentTask;
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** Called once, when the run is over; not when it has not started. */
  readonly onEnd: () => void;
  readonly onLost: () => void;
}

const pieceBytes = 1024 * 1024;
const nothing = new Uint8Array(0);
/** Of every run that ends: one for all, since nobody is told of it. */
const runOver = new QueryError('CANCELLED', 'The run is over.');
/** A task of hours, whose tables have credentials of minutes, asks for fewer. */
const maxRenewals = 10_000;

/** Throws EXECUTOR_LOST for a worker that does not take it. */
export async function sendTask(
  task: Uint8Array,
  { name, call, stallMs, signal }: Pick<RunOptions, 'name' | 'call' | 'stallMs' | 'signal'>,
): Promise<void> {
  const metadata = encodeCoordinatorFrame({ kind: 'piece' });
  const stalled = () => executorLost(name, `it has taken nothing for ${stallMs / 1000} s`);
  for (let start = 0; start < task.byteLength; start += pieceBytes) {
    using limit = linkAbort(signal, stallMs, stalled);
    const body = task.subarray(start, start + pieceBytes);
    await abortable(call.send({ header: nothing, metadata, body }), limit.signal);
  }
}

/** Resolves with the schema. Throws EXECUTOR_LOST naming the worker, FRAGMENT_REFUSED, and the fragment's own errors. */
export async function startRun(options: RunOptions): Promise<SplitRun> {
  const { name, call, task, signal, onEnd, onLost } = options;
  const own = linkAbort(signal);
  const read = createReader(options, own);
  const end = () => {
    own.abort(runOver);
    call[Symbol.dispose]();
  };
  const failure = (caught: unknown): QueryError => {
    throwIfAborted(signal);
    const error = QueryError.from(caught);
    if (error.code === 'EXECUTOR_LOST' || error.code === 'SHUTTING_DOWN') onLost();
    return error;
  };
  try {
    const first = await read();
    if (first?.frame.kind === 'event' && first.frame.event.kind === 'error')
      throw answeredError(name, first.frame.event.error);
    if (first?.frame.kind !== 'schema') throw executorLost(name, 'its answer does not begin with a schema');
    const check = new AnswerCheck(name, task.request.splits, first.header);
    let isOver = false;
    const finish = () => {
      if (isOver) return;
      isOver = true;
      end();
      onEnd();
    };
    const next = async (): Promise<IteratorResult<SplitEvent>> => {
      if (isOver) return { done: true, value: undefined };
      try {
        const message = await read();
        if (message?.frame.kind === 'schema') throw executorLost(name, 'it sends a second schema');
        if (message !== undefined) return { done: false, value: check.event(message.frame.event, message) };
        check.end();
        finish();
        return { done: true, value: undefined };
      } catch (caught) {
        finish();
        throw failure(caught);
      }
    };
    const iterator: AsyncIterator<SplitEvent> = {
      next,
      async return() {
        finish();
        return { done: true, value: undefined };
      },
    };
    return {
      schema: encapsulateHeader(first.header),
      events: { [Symbol.asyncIterator]: () => iterator },
    };
  } catch (caught) {
    end();
    throw failure(caught);
  }
}

interface Answered extends ArrowParts {
  readonly frame: Extract<WorkerFrame, { readonly kind: 'schema' | 'event' }>;
}

/** Reads what is an answer; what is none is seen to. Throws EXECUTOR_LOST and FRAGMENT_REFUSED. */
function createReader(
  { name, call, task, stallMs }: RunOptions,
  own: LinkedAbort,
): () => Promise<Answered | undefined> {
  const renew = createRenewer(name, call, task, own.signal);
  const onStalled = () => own.abort(executorLost(name, `it has said nothing for ${stallMs / 1000} s`));
  const readMessage = async () => {
    const timer = setTimeout(onStalled, stallMs).unref();
    try {
      return await abortable(call.read(), own.signal);
    } catch (caught) {
      throw errorOfCall(name, caught);
    } finally {
      clearTimeout(timer);
    }
  };
  return async () => {
    for (;;) {
      const message = await readMessage();
      if (message === undefined) return undefined;
      const frame = decodeFrame(name, message.metadata);
      if (frame.kind === 'schema' || frame.kind === 'event')
        return { frame, header: message.header, body: message.body };
      if (frame.kind === 'renew') renew(frame);
    }
  };
}

function decodeFrame(name: string, metadata: Uint8Array): WorkerFrame {
  try {
    return decodeWorkerFrame(metadata);
  } catch (caught) {
    throw lostBy(name, caught);
  }
}

/** Answers a worker that asks for newer credentials, while its answer is read on. */
function createRenewer(
  name: string,
  call: ExchangeCall,
  { stores }: FragmentTask,
  signal: AbortSignal,
): (frame: Extract<WorkerFrame, { readonly kind: 'renew' }>) => void {
  let count = 0;
  const answer = async (frame: CoordinatorFrame): Promise<void> =>
    await call.send({ header: nothing, metadata: encodeCoordinatorFrame(frame), body: nothing });
  return ({ id, table }) => {
    const store = stores[table];
    count += 1;
    if (store?.grant === undefined || count > maxRenewals)
      throw executorLost(name, 'it asks for credentials that are not those of its task');
    store
      .grant(signal)
      .then(
        (grant) => answer({ kind: 'grant', id, grant }),
        (error: unknown) => answer({ kind: 'no-grant', id, error: QueryError.from(error).toSerialized() }),
      )
      .catch(() => undefined); // the call is over, and its reader learns why
  };
}

/** What a worker ends a call with instead of an answer says nothing of the fragment, but for these. */
const passedOn: ReadonlySet<string> = new Set(['EXECUTOR_LOST', 'FRAGMENT_REFUSED', 'RESULT_TOO_LARGE']);

/** The worker's own refusal, or that it has no place, or EXECUTOR_LOST with what reached us. */
export function errorOfCall(name: string, caught: unknown): QueryError {
  const error = QueryError.from(caught);
  return passedOn.has(error.code) ? error : (noPlace(name, error) ?? lostBy(name, error));
}

/** EXECUTOR_LOST with what reached us. */
export function lostBy(name: string, caught: unknown): QueryError {
  return executorLost(name, QueryError.from(caught).message, caught);
}

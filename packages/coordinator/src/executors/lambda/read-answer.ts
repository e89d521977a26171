/**
 * From the bytes of a function's answer to the events of its splits. A function may die at any byte, and may say what is
 * not so: what does not fit is EXECUTOR_LOST, and only splits that ended before it count.
 */
import { QueryError, type SerializedError } from '@svc/base';
import { encapsulateHeader } from '@svc/flight/arrow';
import {
  AnswerCheck,
  answeredError,
  decodeEventHeader,
  type FragmentSplit,
  type Frame,
  type InvocationSummary,
  parsePart,
  parseSummary,
  readFrames,
  type SplitEvent,
  type SpooledPart,
} from '@svc/fragment-fn';

export interface AnswerSource {
  /** Named where it is lost. */
  readonly executor: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly splits: readonly FragmentSplit[];
  /** How large a part of it was to be. */
  readonly partBytes: number;
  /** Read to its end or returned early. */
  readPart(part: SpooledPart): AsyncIterable<Uint8Array>;
  /** Told once, when the answer is whole, of one that tells of an error too: nothing in it contradicts what came. */
  onSummary(summary: InvocationSummary): void;
}

export type AnswerEvent = { readonly kind: 'schema'; readonly schema: Uint8Array } | SplitEvent;

/** Marker and length in front of a schema's Message flatbuffer. */
const encapsulationBytes = 8;

/** First the schema. Throws the fragment's own errors, and EXECUTOR_LOST. */
export async function* readAnswer(source: AnswerSource): AsyncGenerator<AnswerEvent, void, undefined> {
  const { executor, splits } = source;
  let check: AnswerCheck | undefined;
  let failure: QueryError | undefined;
  const sum = { frames: 0, parts: 0 };
  let summary: InvocationSummary | undefined;
  for await (const frame of framesOf(source, sum)) {
    if (summary !== undefined || (failure !== undefined && frame.kind !== 'end'))
      throw garbled('it goes on behind its end');
    if (frame.kind === 'end') {
      summary = parseSummary(frame.header);
      continue;
    }
    if (frame.kind === 'schema') {
      if (check !== undefined) throw garbled('it has two schemas');
      const header = frame.body.subarray(encapsulationBytes);
      check = new AnswerCheck(executor, splits, header);
      // Encapsulated anew: what readers go by is what has been checked.
      yield { kind: 'schema', schema: encapsulateHeader(header) };
      continue;
    }
    const header = decodeEventHeader(frame.header);
    // Kept until the answer's end is here: what is in the spool is known then.
    if (header.kind === 'error') failure = failureOf(executor, header.error);
    else if (check === undefined) throw garbled('it has rows before their schema');
    else yield check.event(header, { header: frame.arrowHeader, body: frame.body });
  }
  if (summary === undefined) throw garbled('it has no end');
  checkCounts(summary, sum, failure !== undefined);
  source.onSummary(summary);
  if (failure !== undefined) throw failure;
  if (check === undefined) throw garbled('it has no schema');
  check.end();
}

/** That its time is over only a function can say. */
function failureOf(executor: string, serialized: SerializedError): QueryError {
  return serialized.code === 'EXECUTOR_TIME_OVER'
    ? QueryError.fromSerialized(serialized)
    : answeredError(executor, serialized);
}

/** A function that has failed may have put, and counted, what it did not come to name. */
function checkCounts(
  { frames, parts }: InvocationSummary,
  came: { readonly frames: number; readonly parts: number },
  hasFailed: boolean,
): void {
  // Its own frame is not among them.
  const isWhole = frames === came.frames - 1 && parts === came.parts;
  if (hasFailed ? parts < came.parts : !isWhole) throw garbled('something of it is missing');
}

/** Those of parts in the place of the frames that name them. */
async function* framesOf(
  source: AnswerSource,
  sum: { frames: number; parts: number },
): AsyncGenerator<Frame, void, undefined> {
  const { partBytes } = source;
  for await (const frame of readFrames(source.chunks)) {
    sum.frames += 1;
    if (frame.kind !== 'part') {
      yield frame;
      continue;
    }
    const part = parsePart(frame.header, partBytes);
    if (part.part !== sum.parts) throw garbled('its parts are not in order');
    sum.parts += 1;
    let spooledFrames = 0;
    for await (const spooled of readFrames(source.readPart(part))) {
      sum.frames += 1;
      spooledFrames += 1;
      if (spooled.kind === 'part' || spooled.kind === 'end')
        throw garbled('a part of it says what it may not');
      if (spooledFrames > 1 && part.bytes > partBytes) throw garbled('a part of it is larger than it may be');
      yield spooled;
    }
  }
}

function garbled(why: string): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`);
}

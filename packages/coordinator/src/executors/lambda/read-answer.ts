/**
 * From the bytes of a function's answer to the events of its splits. A function may die at any byte, and may say what is
 * not so: what does not fit is EXECUTOR_LOST, and only splits that ended before it count.
 */
import { QueryError } from '@svc/base';
import {
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
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly splits: readonly FragmentSplit[];
  readPart(part: SpooledPart): Promise<Uint8Array>;
  /** Told once, when the answer is whole, of one that tells of an error too. */
  onSummary(summary: InvocationSummary): void;
}

export type AnswerEvent = { readonly kind: 'schema'; readonly schema: Uint8Array } | SplitEvent;

interface SplitTally {
  rowCount: bigint;
  hasEnded: boolean;
}

/** First the schema. Throws the fragment's own errors, and EXECUTOR_LOST. */
export async function* readAnswer(source: AnswerSource): AsyncGenerator<AnswerEvent, void, undefined> {
  const tallies = new Map<number, SplitTally>(
    source.splits.map(({ id }) => [id, { rowCount: 0n, hasEnded: false }]),
  );
  let hasSchema = false;
  let failure: QueryError | undefined;
  const sum = { frames: 0, parts: 0 };
  let summary: InvocationSummary | undefined;
  for await (const frame of framesOf(source, sum)) {
    if (summary !== undefined || (failure !== undefined && frame.kind !== 'end'))
      throw garbled('it goes on behind its end');
    if (frame.kind === 'end') {
      summary = parseSummary(frame.header);
      source.onSummary(summary);
      continue;
    }
    if (frame.kind === 'schema') {
      if (hasSchema) throw garbled('it has two schemas');
      hasSchema = true;
      yield { kind: 'schema', schema: frame.body };
      continue;
    }
    const event = eventOf(frame, tallies);
    if (event instanceof QueryError) failure = event;
    else if (hasSchema) yield event;
    else throw garbled('it has rows before their schema');
  }
  if (summary === undefined) throw garbled('it has no end');
  if (failure !== undefined) throw failure;
  // Its own frame is not among them.
  if (summary.frames !== sum.frames - 1 || summary.parts !== sum.parts)
    throw garbled('something of it is missing');
  if ([...tallies.values()].some(({ hasEnded }) => !hasEnded)) throw garbled('splits of it have no end');
}

/** Those of parts in the place of the frames that name them. */
async function* framesOf(
  source: AnswerSource,
  sum: { frames: number; parts: number },
): AsyncGenerator<Frame, void, undefined> {
  for await (const frame of readFrames(source.chunks)) {
    sum.frames += 1;
    if (frame.kind !== 'part') {
      yield frame;
      continue;
    }
    const part = parsePart(frame.header);
    if (part.part !== sum.parts) throw garbled('its parts are not in order');
    sum.parts += 1;
    for await (const spooled of readFrames(onePiece(await source.readPart(part)))) {
      sum.frames += 1;
      if (spooled.kind === 'part' || spooled.kind === 'end')
        throw garbled('a part of it says what it may not');
      yield spooled;
    }
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

function eventOf(frame: Frame, tallies: ReadonlyMap<number, SplitTally>): SplitEvent | QueryError {
  const header = decodeEventHeader(frame.header);
  if (header.kind === 'error') return QueryError.fromSerialized(header.error);
  const { split } = header;
  const tally = tallies.get(split);
  if (tally === undefined || tally.hasEnded) throw garbled('it is of a split that is not under way');
  if (header.kind === 'end') {
    if (header.rowCount !== tally.rowCount) throw garbled('rows of it are missing');
    tally.hasEnded = true;
    return header;
  }
  const { messageKind, rowCount } = header;
  if (messageKind === 'batch') tally.rowCount += BigInt(rowCount);
  const { arrowHeader, body } = frame;
  return {
    kind: 'message',
    split,
    message: { kind: messageKind, header: arrowHeader, body, rowCount, release: () => undefined },
  };
}

function garbled(why: string): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`);
}

import type { Answer } from '../answer/answer.js';
import { answerStream, endOfStream } from '../answer/read-batches.js';
import type { Pieces } from './format.js';

/** The Arrow IPC streaming format: the answer's own messages, as they came. Their rows are not counted. */
export async function* arrowStreamFormat(answer: Answer): Pieces {
  yield* answerStream(answer);
  yield endOfStream;
  return undefined;
}

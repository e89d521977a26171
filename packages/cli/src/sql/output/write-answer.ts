import type { Answer } from '../answer/answer.js';
import type { Format, FormatOptions } from './format.js';
import type { Sink } from './sink.js';

/**
 * Writes an answer and tells how many rows it has, where the format counts them. Ends early, and quietly, when nobody
 * takes the output any more. The answer has been ended in any case.
 */
export async function writeAnswer(
  answer: Answer,
  sink: Sink,
  { format, ...options }: FormatOptions & { readonly format: Format },
): Promise<number | undefined> {
  const pieces = format(answer, options);
  try {
    for (;;) {
      const next = await pieces.next();
      if (next.done) return next.value;
      await sink.write(next.value);
      if (sink.closed.aborted) return undefined;
    }
  } finally {
    await pieces.return(undefined);
    // A format that was left before it read its first message has not ended the answer.
    await answer.messages[Symbol.asyncIterator]().return?.();
  }
}

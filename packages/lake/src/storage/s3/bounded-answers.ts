/** The SDK reads the bodies of lists and errors whole: what a server sends without end is cut off. */
import { pipeline, type Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** A page of a thousand of the longest keys there are has a quarter. */
const maxAnswerBytes = 16 * 1024 * 1024;

export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';
}

interface RawAnswer {
  readonly statusCode: number;
  body?: Readable;
}

export function boundAnswers(client: S3Client): S3Client {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const result = await next(request);
        const answer = result.response as RawAnswer;
        const isObject = commandName === 'GetObjectCommand' && answer.statusCode < 300;
        if (!isObject && answer.body !== undefined) answer.body = bounded(answer.body);
        return result;
      },
    // Nearest to the connection: the body is not read yet.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  );
  return client;
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const counting = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) done(new EndlessAnswer(`More than ${maxAnswerBytes} bytes came.`));
      else done(null, chunk);
    },
  });
  // Whoever reads is told of a failure; the callback only keeps it from being unhandled.
  return pipeline(body, counting, () => undefined);
}

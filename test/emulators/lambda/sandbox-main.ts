/**
 * The process of a sandbox: what the Node runtime of Lambda does around a function. Events come by descriptor 3, answers go
 * by descriptor 4; the function's own output is its log.
 */
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { frame, framesOf, type SandboxEvent } from './sandbox-pipe.js';

type Handler = (
  event: unknown,
  stream: Writable,
  context: {
    readonly awsRequestId: string;
    readonly functionName: string;
    getRemainingTimeInMillis(): number;
  },
) => Promise<unknown>;

const streaming = Symbol.for('aws.lambda.runtime.handler.streaming');
const globals = globalThis as { awslambda?: unknown };
globals.awslambda = {
  streamifyResponse: (handler: Handler) => Object.assign(handler, { [streaming]: 'response' }),
};

const events = new Socket({ fd: 3, readable: true, writable: false });
const answers = new Socket({ fd: 4, readable: false, writable: true });

function send(kind: number, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    answers.write(frame(kind, body), (error) => (error ? reject(error) : resolve()));
  });
}

const [, , bundle = ''] = process.argv;
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: Handler };
if (!(streaming in handler)) throw new Error('The handler does not stream.');
await send(1, new Uint8Array());

for await (const { body } of framesOf(events)) {
  const { requestId, deadlineMs, functionName, event } = JSON.parse(
    Buffer.from(body).toString(),
  ) as SandboxEvent;
  const stream = new Writable({
    highWaterMark: 64 * 1024,
    write: (chunk: Uint8Array, _encoding, done) => {
      send(2, chunk).then(() => done(), done);
    },
  });
  try {
    await handler(event, stream, {
      awsRequestId: requestId,
      functionName,
      getRemainingTimeInMillis: () => deadlineMs - Date.now(),
    });
    if (!stream.writableFinished) await new Promise((resolve) => stream.once('finish', resolve).end());
    await send(3, new Uint8Array());
  } catch (error) {
    console.error(error);
    const { name, message } = error as Error;
    await send(4, Buffer.from(JSON.stringify({ errorType: name, errorMessage: message })));
  }
}

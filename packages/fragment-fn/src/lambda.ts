/**
 * The fragment function on AWS Lambda. Loading it does next to nothing, as it is paid for: the engine's library and the
 * client of storage come with the first invocation.
 */
import { tmpdir } from 'node:os';
import type { Writable } from 'node:stream';
import { jsonLine } from '@svc/base';
import { createFragmentHandler, type FragmentHandler } from './function/fragment-handler.js';
import { type OpeningKeys, readOpeningKeys } from './function/sealing.js';
import { startRemoteTask } from './function/start-task.js';

/** What Node on Lambda has. */
declare const awslambda: {
  streamifyResponse(
    handler: (event: unknown, stream: Writable, context: Parameters<FragmentHandler>[2]) => Promise<void>,
  ): unknown;
};

const { AWS_LAMBDA_FUNCTION_NAME, SVC_FUNCTION_KEYS, SVC_FUNCTION_LOCAL_FILES } = process.env;
/** Of a sandbox on the coordinator's own machine: for tests. */
const allowLocalFiles = SVC_FUNCTION_LOCAL_FILES === '1';
let keys: Promise<OpeningKeys> | undefined;

export const handler: unknown = awslambda.streamifyResponse(
  createFragmentHandler({
    functionName: AWS_LAMBDA_FUNCTION_NAME ?? '',
    keys: () => {
      keys ??= readOpeningKeys(SVC_FUNCTION_KEYS ?? '');
      return keys;
    },
    temporaryFolder: tmpdir(),
    startTask: (task, place, signal) => startRemoteTask(task, place, signal, { allowLocalFiles }),
    log: (fields) => process.stdout.write(`${jsonLine(fields)}\n`),
    now: Date.now,
  }),
);

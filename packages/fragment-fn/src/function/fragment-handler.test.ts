import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { QueryError, throwIfAborted } from '@svc/base';
import { exportJWK, generateKeyPair } from 'jose';
import type { SplitEvent } from '../splits/split-task.js';
import { emptyScan, plainRequest } from '../test-support/test-task.js';
import { decodeEventHeader } from '../wire/event-codec.js';
import { encodeTask, type RemoteTask } from '../wire/task-codec.js';
import { createFragmentHandler, type HandlerParts } from './fragment-handler.js';
import { readFrames } from './frames.js';
import { functionProtocolVersion, parseSummary } from './invocation.js';
import { packOrder, readOpeningKeys, readSealingKey, seal } from './sealing.js';

const statistics = {
  filesRead: 0,
  bytesStaged: 0,
  bytesFetched: 0,
  rowsScanned: 0n,
  rowsReturned: 0n,
  spilledBytes: 0n,
  peakMemoryBytes: 0n,
  stagingMs: 0,
  engineMs: 0,
};
const startMs = 1_000_000;
const secondsOfSplit = 10;

interface Answer {
  readonly ended: readonly number[];
  readonly error: QueryError | undefined;
  readonly isColdStart: boolean;
}

/** A function with an engine that takes ten seconds of a clock of its own for each of four splits. */
async function openFunction(changes: Partial<HandlerParts> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-handler-'));
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  const keys = await readOpeningKeys(JSON.stringify({ keys: [await exportJWK(pair.privateKey)] }));
  const key = await readSealingKey(JSON.stringify(await exportJWK(pair.publicKey)));
  const logged: unknown[] = [];
  let nowMs = startMs;
  let released = 0;
  async function* events(task: RemoteTask, signal: AbortSignal): AsyncGenerator<SplitEvent> {
    for (const { id } of task.request.splits) {
      throwIfAborted(signal);
      nowMs += secondsOfSplit * 1000;
      const message = {
        kind: 'batch',
        header: new Uint8Array(8),
        body: new Uint8Array(64),
        rowCount: 1,
      } as const;
      yield {
        kind: 'message',
        split: id,
        message: {
          ...message,
          release: () => {
            released += 1;
          },
        },
      };
      yield { kind: 'end', split: id, rowCount: 1n, statistics };
    }
  }
  const handler = createFragmentHandler({
    functionName: 'svc-fragment',
    keys: async () => keys,
    temporaryFolder: folder,
    startTask: async (task, place, signal) => {
      await writeFile(join(place.folder, 'staged'), task.request.owner);
      return {
        run: { schema: new Uint8Array(8), events: events(task, signal) },
        [Symbol.asyncDispose]: async () => assert.ok(existsSync(place.folder)),
      };
    },
    log: (fields) => logged.push(fields),
    now: () => nowMs,
    ...changes,
  });
  return {
    folder,
    logged,
    get released() {
      return released;
    },
    async invoke(grants: RemoteTask['grants'] = [], remainingMs = 60_000): Promise<Answer> {
      const splits = [1, 2, 3, 4].map((id) => ({ id, scan: emptyScan }));
      const table = { kind: 'scan', catalog: 'c', schema: 's', table: 't', scan: emptyScan } as const;
      const request = plainRequest({ tables: [table], splitTable: 0, splits, owner: 'planted-owner' });
      const order = {
        functionName: 'svc-fragment',
        queryId: request.queryId,
        owner: request.owner,
        notAfterMs: nowMs,
        inlineBytes: 2 ** 20,
        partBytes: 2 ** 20,
        partUrls: [],
      };
      const sealed = await seal(packOrder(order, encodeTask({ request, grants })), key);
      const chunks: Buffer[] = [];
      const stream = new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          chunks.push(chunk);
          done();
        },
      });
      const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => remainingMs };
      await handler({ protocol: functionProtocolVersion, sealed }, stream, context);
      return await readBack(chunks);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function readBack(chunks: readonly Buffer[]): Promise<Answer> {
  async function* pieces() {
    yield* chunks;
  }
  const ended: number[] = [];
  let error: QueryError | undefined;
  let isColdStart: boolean | undefined;
  for await (const frame of readFrames(pieces())) {
    assert.equal(isColdStart, undefined, 'nothing comes behind the end');
    if (frame.kind === 'end') ({ isColdStart } = parseSummary(frame.header));
    if (frame.kind !== 'event') continue;
    const event = decodeEventHeader(frame.header);
    if (event.kind === 'end') ended.push(event.split);
    if (event.kind === 'error') error = QueryError.fromSerialized(event.error);
  }
  assert.ok(isColdStart !== undefined, 'there is an end');
  return { ended, error, isColdStart };
}

function granted(expiresAtMs: number | undefined): RemoteTask['grants'] {
  const prefix = {
    prefix: 's3://lake/',
    endpoint: undefined,
    region: undefined,
    pathStyle: undefined,
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    sessionToken: undefined,
    expiresAtMs,
  };
  return [{ kind: 's3', scope: undefined, prefixes: [prefix] }];
}

describe('an invocation', () => {
  it('answers every split, and leaves nothing but a line that names nobody', async () => {
    await using test = await openFunction();
    assert.deepEqual(await test.invoke(), { ended: [1, 2, 3, 4], error: undefined, isColdStart: true });
    assert.equal((await test.invoke()).isColdStart, false);
    assert.equal(test.released, 8);
    assert.deepEqual(await readdir(test.folder), []);
    assert.equal(test.logged.length, 2);
    assert.doesNotMatch(JSON.stringify(test.logged), /planted/);
  });

  it('clears what one before it has left that was killed', async () => {
    await using test = await openFunction();
    await test.invoke();
    await writeFile(join(test.folder, 'svc-fragment'), 'left');
    await test.invoke();
    assert.deepEqual(await readdir(test.folder), []);
  });

  it('begins no split that would not end before its credentials', async () => {
    await using test = await openFunction();
    const answer = await test.invoke(granted(startMs + 25_000));
    assert.deepEqual(answer.ended, [1, 2]);
    assert.ok(answer.error?.code === 'EXECUTOR_TIME_OVER' && answer.error.retryable);
    assert.match(answer.error.message, /Credentials end/);
    const late = await test.invoke(granted(startMs - 1));
    assert.deepEqual([late.ended, late.error?.code], [[], 'EXECUTOR_TIME_OVER']);
    assert.deepEqual((await test.invoke(granted(undefined))).ended, [1, 2, 3, 4]);
  });

  it('ends before its sandbox does, by its own word', async () => {
    await using test = await openFunction({
      startTask: async (_task, _place, signal) => ({
        run: {
          schema: new Uint8Array(8),
          events: (async function* (): AsyncGenerator<SplitEvent> {
            yield { kind: 'end', split: 1, rowCount: 0n, statistics };
            const running = setInterval(() => undefined, 1000);
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            clearInterval(running);
            throwIfAborted(signal);
          })(),
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    });
    const answer = await test.invoke([], 600);
    assert.deepEqual(answer.ended, [1]);
    assert.match(String(answer.error?.message), /The time of the function is over/);
    assert.deepEqual(await readdir(test.folder), []);
  });

  it('never throws, and says nothing of what it did not expect', async () => {
    await using test = await openFunction({
      startTask: async () => {
        throw new Error('planted-secret in a message');
      },
    });
    const answer = await test.invoke();
    assert.equal(answer.error?.code, 'INTERNAL_ERROR');
    assert.doesNotMatch(String(answer.error?.message) + JSON.stringify(test.logged), /planted/);
    assert.deepEqual(await readdir(test.folder), []);
  });
});

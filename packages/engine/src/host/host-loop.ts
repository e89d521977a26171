import { QueryError } from '@svc/base';
import type { EngineProfile } from '../api.js';
import { ParquetCursor } from '../parquet-arrow/parquet-cursor.js';
import { decodeParquetRead } from '../parquet-arrow/parquet-read.js';
import { cancelled } from './cancelled.js';
import type { Frame } from './frame.js';
import type { HostContext } from './host-context.js';
import type { HostCursor, HostInstance } from './instance-interface.js';
import type { HostAnswer, HostRequest, SerializedProfile, ToHost } from './protocol.js';
import { sendResult } from './result-sender.js';

interface Answer {
  readonly answer: HostAnswer;
  readonly body?: Uint8Array;
}

/** Serves requests, one at a time, until the parent is gone. */
export function runHostLoop(context: HostContext): void {
  const session = new InstanceSession(context);
  for (;;) {
    const frame = context.channel.read();
    if (!frame) return;
    const { head } = frame;
    if (head.op === 'credit') context.slots.release(head.slot);
    // What is left of a request that is over needs no answer.
    else if (head.op !== 'stop' && head.op !== 'chunk' && head.op !== 'chunksEnd')
      serve(context, session, head, frame);
  }
}

function serve(
  context: HostContext,
  session: InstanceSession,
  request: HostRequest,
  frame: Frame<ToHost>,
): void {
  const { channel, state } = context;
  const { id } = request;
  try {
    if (!state.begin(id)) throw cancelled();
    const { answer, body } = perform(context, session, request, frame);
    state.end();
    channel.write({ type: 'done', id, answer }, body);
    if ('isLast' in request && request.isLast) endLease(session);
  } catch (caught) {
    state.end();
    // An interrupt may surface as any failure of the statement it hit.
    const error = state.isCancelled(id) ? cancelled() : QueryError.from(caught);
    const mustRecycle = session.isUnusable || error.category === 'internal' || error.code === 'OUT_OF_MEMORY';
    const detail = error.code === 'INTERNAL_ERROR' ? { detail: describeCause(caught) } : {};
    channel.write({ type: 'failed', id, error: error.toSerialized(), mustRecycle, ...detail });
  }
}

/** Nobody waits: what does not succeed must not be heard of by the next statement. */
function endLease(session: InstanceSession): void {
  try {
    session.instance.reset();
    if (session.instance.isUnusable) session.reopen();
  } catch {
    session.reopen();
  }
}

function perform(
  context: HostContext,
  session: InstanceSession,
  request: HostRequest,
  frame: Frame<ToHost>,
): Answer {
  switch (request.op) {
    case 'open':
      session.reopen();
      return { answer: { of: 'open' } };
    case 'reset':
      session.instance.reset();
      if (session.instance.isUnusable) session.reopen();
      return { answer: { of: 'reset' } };
    case 'execute':
      executeAll(context, session.instance, request.id, request.statements);
      return { answer: { of: 'execute' } };
    case 'queryText':
      return {
        answer: { of: 'queryText', text: session.instance.queryText(request.sql, request.parameters) },
      };
    case 'describe': {
      const { schema, parameterSchema, parameterCount } = session.instance.describe(
        request.sql,
        'client',
        frame.body.length > 0 ? Buffer.from(frame.body) : undefined,
      );
      return {
        answer: {
          of: 'describe',
          schemaBytes: schema.length,
          parameterSchemaBytes: parameterSchema.length,
          parameterCount,
        },
        body: Buffer.concat([schema, parameterSchema]),
      };
    }
    case 'query':
      return { answer: { of: 'result', profile: runQuery(context, session.instance, request, frame.body) } };
    case 'readParquet':
      return { answer: { of: 'result', profile: runParquetRead(context, request, frame.body) } };
    case 'ingest':
      return { answer: { of: 'ingest', rowCount: runIngest(context, session.instance, request).toString() } };
  }
}

function executeAll(
  { state }: HostContext,
  instance: HostInstance,
  id: number,
  statements: readonly string[],
): void {
  for (const sql of statements) {
    if (state.isCancelled(id)) throw cancelled();
    instance.execute([sql]);
  }
}

function runQuery(
  context: HostContext,
  instance: HostInstance,
  request: HostRequest & { op: 'query' },
  parameters: Buffer,
): SerializedProfile {
  executeAll(context, instance, request.id, request.before);
  const cursor = instance.query({
    sql: request.sql,
    arrow: request.arrow,
    // The frame's bytes are overwritten by the next credit.
    ...(parameters.length > 0 ? { parameters: Buffer.from(parameters) } : {}),
  });
  return sendAndClose(context, request.id, cursor);
}

/** Needs no instance: the files are opened here. */
function runParquetRead(
  context: HostContext,
  request: HostRequest & { op: 'readParquet' },
  body: Buffer,
): SerializedProfile {
  const { slotBytes, maxBodyBytes } = context.slots.layout;
  const read = decodeParquetRead(Buffer.from(body), request.schemaBytes);
  return sendAndClose(context, request.id, new ParquetCursor(read, slotBytes, maxBodyBytes));
}

function sendAndClose(context: HostContext, id: number, cursor: HostCursor): SerializedProfile {
  try {
    sendResult(context, id, cursor);
  } finally {
    cursor.close();
  }
  return serializeProfile(cursor.profile());
}

function runIngest(
  context: HostContext,
  instance: HostInstance,
  request: HostRequest & { op: 'ingest' },
): bigint {
  const ingest = instance.ingest(request.table);
  try {
    for (let chunk = readChunk(context, request.id); chunk; chunk = readChunk(context, request.id))
      ingest.write(chunk);
    return ingest.finish();
  } finally {
    ingest.close();
  }
}

/** Blocks for the next chunk of an ingested stream; undefined at its end. */
function readChunk(context: HostContext, id: number): Uint8Array | undefined {
  for (;;) {
    const frame = context.channel.read();
    if (!frame) throw cancelled();
    const { head } = frame;
    if (head.op === 'credit') context.slots.release(head.slot);
    else if (head.op === 'chunk' && head.id === id) return Buffer.from(frame.body);
    else if (head.op === 'chunksEnd' && head.id === id) return undefined;
    else if (head.op === 'stop' && head.id === id) throw cancelled();
  }
}

/** The instance of the present owner; reopening gives the next owner a new one. */
class InstanceSession {
  readonly #context: HostContext;
  #instance: HostInstance | undefined;

  constructor(context: HostContext) {
    this.#context = context;
  }

  get instance(): HostInstance {
    if (!this.#instance) throw new QueryError('INTERNAL_ERROR', 'The engine host has no open instance.');
    return this.#instance;
  }

  get isUnusable(): boolean {
    return this.#instance?.isUnusable ?? true;
  }

  reopen(): void {
    const { state, runtime, instanceOptions } = this.#context;
    state.setConnection(0);
    this.#instance?.close();
    this.#instance = undefined;
    const instance = runtime.open(instanceOptions);
    this.#instance = instance;
    state.setConnection(instance.connectionAddress);
  }
}

function serializeProfile(profile: EngineProfile): SerializedProfile {
  return {
    rowsReturned: profile.rowsReturned.toString(),
    rowsScanned: profile.rowsScanned.toString(),
    spilledBytes: profile.spilledBytes.toString(),
    peakMemoryBytes: profile.peakMemoryBytes.toString(),
    cpuSeconds: profile.cpuSeconds,
  };
}

const maxDetailLength = 8_000;

/** For the service log, which nobody else sees. */
function describeCause(caught: unknown): string {
  const text = caught instanceof Error ? (caught.stack ?? caught.message) : String(caught);
  return text.slice(0, maxDetailLength);
}

/** Puts, uploads in parts and deletes of S3. An object appears at once or not at all. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { linkAbort, QueryError, throwIfAborted } from '@svc/base';
import { fileError } from '../file-errors.js';
import { mapConcurrently } from '../map-concurrently.js';
import type { ObjectInfo, ObjectStore, ReadOptions, WriteOptions } from '../object-store.js';
import { done, type Outcome, type Try } from '../remote/outcome.js';
import type { RequestRunner } from '../remote/request-runner.js';
import { parseS3Object, type S3Location } from './s3-location.js';
import type { S3Requests, SendOptions } from './s3-requests.js';

/** Larger files are uploaded in parts. */
const maxSinglePutBytes = 16 * 1024 * 1024;
const minPartBytes = 16 * 1024 * 1024;
/** S3 allows 10,000. */
const maxParts = 9_000;
const maxConcurrentParts = 4;
/** A body is sent without a word of the server; this is 200 KB/s and a while to think. */
const silenceMsPerByte = 1 / 200;
const baseSilenceMs = 30_000;
/** Putting thousands of parts together takes a server minutes. */
const completeSilenceMs = 5 * 60_000;
const abortUploadMs = 10_000;
/** Every object carries who wrote it, so that the writer of one can be told when an answer was lost. */
const writeIdName = 'svc-write-id';

/** What must be there for the object to be written. */
type Condition =
  | { readonly kind: 'none' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'version'; readonly version: string };

interface Target extends S3Location {
  readonly location: string;
  readonly writeId: string;
  readonly condition: Condition;
  readonly signal: AbortSignal | undefined;
}

export function createS3Writes(
  requests: S3Requests,
  runner: RequestRunner,
): Pick<ObjectStore, 'write' | 'moveIn' | 'delete'> {
  return { write, moveIn, delete: remove };

  async function write(
    location: string,
    body: Uint8Array,
    { ifAbsent = false, ifVersion, signal }: WriteOptions = {},
  ): Promise<ObjectInfo> {
    const condition = conditionOf(ifAbsent, ifVersion);
    const target = { ...parseS3Object(location), location, writeId: randomUUID(), condition, signal };
    return put(target, body);
  }

  async function moveIn(location: string, source: string, { signal }: ReadOptions = {}): Promise<void> {
    const condition = { kind: 'absent' } as const;
    const target = { ...parseS3Object(location), location, writeId: randomUUID(), condition, signal };
    throwIfAborted(signal);
    let file: FileHandle | undefined;
    try {
      file = await open(source, 'r');
      const { size } = await file.stat();
      if (size > maxSinglePutBytes) await upload(target, file, size);
      else await put(target, await readPart(file, source, 0, size));
    } catch (error) {
      throw fileError(source, error);
    } finally {
      await file?.close();
    }
    await rm(source, { force: true });
  }

  async function remove(location: string, { signal }: ReadOptions = {}): Promise<void> {
    const { bucket, key } = parseS3Object(location);
    await runner.run({ bytes: 0, what: location, signal }, (attempt) =>
      requests.send<unknown>({
        operation: 'DeleteObject',
        location,
        attempt,
        send: ({ sdk, client }, options) =>
          client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key }), options),
      }),
    );
  }

  async function put(target: Target, body: Uint8Array): Promise<ObjectInfo> {
    const { bucket, key, location, writeId, condition } = target;
    const version = await conditionally(target, {
      bytes: body.length,
      maxSilenceMs: baseSilenceMs + body.length * silenceMsPerByte,
      operation: 'PutObject',
      send: async ({ sdk, client }, options) => {
        const answer = await client.send(
          new sdk.PutObjectCommand({
            Bucket: bucket,
            Key: key,
            Body: body,
            Metadata: { [writeIdName]: writeId },
            ...(condition.kind === 'absent' && { IfNoneMatch: '*' }),
            ...(condition.kind === 'version' && { IfMatch: condition.version }),
          }),
          options,
        );
        requests.metrics?.s3BytesWritten.inc(body.length);
        return answer.ETag;
      },
    });
    return { location, sizeBytes: body.length, version: version ?? '' };
  }

  /**
   * Sends what makes the object appear, and answers its ETag. With a condition, a try whose answer was lost may be what
   * the next one finds there; the id in the object then tells whose it is.
   */
  async function conditionally(
    target: Target,
    request: Pick<SendOptions<string | undefined>, 'operation' | 'send'> & {
      readonly bytes: number;
      readonly maxSilenceMs: number;
    },
  ): Promise<string | undefined> {
    const { location, condition, signal } = target;
    const { bytes, maxSilenceMs, operation, send } = request;
    let mayBeThere = false;
    try {
      return await runner.run({ bytes, maxSilenceMs, what: location, signal }, async (attempt) => {
        const wasThere = mayBeThere;
        mayBeThere = true;
        return requests.send({
          operation,
          location,
          attempt,
          send,
          onFailure: ({ status }) => {
            if (status < 500) mayBeThere = wasThere;
            if (isUnmet(condition, status))
              throw new QueryError(
                'COMMIT_CONFLICT',
                condition.kind === 'version'
                  ? `The file ${location} was changed meanwhile.`
                  : `The file ${location} exists already.`,
              );
            return undefined;
          },
        });
      });
    } catch (error) {
      if (condition.kind === 'none' || !mayBeThere || signal?.aborted) throw error;
      const found = await writerOf(target);
      if (found?.writeId === target.writeId) return found.version;
      if (found !== undefined && error instanceof QueryError && error.code === 'COMMIT_CONFLICT') throw error;
      throw new QueryError(
        'COMMIT_OUTCOME_UNKNOWN',
        `The answers to writing ${location} were lost, and it is not known whether it was written.`,
        { cause: error },
      );
    }
  }

  /** Who wrote the object that is there; `undefined` when there is none, or it cannot be told. */
  async function writerOf({
    bucket,
    key,
    location,
    signal,
  }: Target): Promise<
    { readonly writeId: string | undefined; readonly version: string | undefined } | undefined
  > {
    try {
      return await runner.run({ bytes: 0, what: location, signal }, (attempt) =>
        requests.send({
          operation: 'HeadObject',
          location,
          attempt,
          send: async ({ sdk, client }, options) => {
            const head = await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }), options);
            return { writeId: head.Metadata?.[writeIdName], version: head.ETag };
          },
        }),
      );
    } catch {
      return undefined;
    }
  }

  async function upload(target: Target, file: FileHandle, sizeBytes: number): Promise<void> {
    const { bucket, key, location, writeId, signal } = target;
    const UploadId = await runner.run({ bytes: 0, what: location, signal }, (attempt) =>
      requests.send({
        operation: 'CreateMultipartUpload',
        location,
        attempt,
        send: async ({ sdk, client }, options) => {
          const input = { Bucket: bucket, Key: key, Metadata: { [writeIdName]: writeId } };
          return (await client.send(new sdk.CreateMultipartUploadCommand(input), options)).UploadId;
        },
      }),
    );
    const parts = { Bucket: bucket, Key: key, UploadId };
    let isComplete = false;
    try {
      const Parts = await uploadParts(target, parts, file, sizeBytes);
      await conditionally(target, {
        bytes: 0,
        maxSilenceMs: completeSilenceMs,
        operation: 'CompleteMultipartUpload',
        send: async ({ sdk, client }, options) => {
          const input = { ...parts, MultipartUpload: { Parts }, IfNoneMatch: '*' };
          return (await client.send(new sdk.CompleteMultipartUploadCommand(input), options)).ETag;
        },
      });
      isComplete = true;
    } finally {
      if (!isComplete) await abandon(location, parts);
    }
  }

  async function uploadParts(
    { location, signal }: Target,
    upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
    file: FileHandle,
    sizeBytes: number,
  ): Promise<CompletedPart[]> {
    const partBytes = Math.max(minPartBytes, Math.ceil(sizeBytes / maxParts));
    const starts = Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, index) => index * partBytes);
    using stop = linkAbort(signal);
    return mapConcurrently(starts, { maxConcurrent: maxConcurrentParts, signal }, async (start, index) => {
      try {
        const body = await readPart(file, location, start, Math.min(start + partBytes, sizeBytes));
        const PartNumber = index + 1;
        const request = {
          bytes: body.length,
          maxSilenceMs: baseSilenceMs + body.length * silenceMsPerByte,
          what: location,
          signal: stop.signal,
        };
        const ETag = await runner.run(request, (attempt) =>
          requests.send({
            operation: 'UploadPart',
            location,
            attempt,
            send: async ({ sdk, client }, options) => {
              const input = { ...upload, PartNumber, Body: body };
              const answer = await client.send(new sdk.UploadPartCommand(input), options);
              requests.metrics?.s3BytesWritten.inc(body.length);
              return answer.ETag;
            },
          }),
        );
        return { ETag, PartNumber };
      } catch (error) {
        stop.abort(QueryError.from(error));
        throw error;
      }
    });
  }

  /** Parts of an upload that nobody ends are kept, and paid for. Also after an abort, and for as long as is decent. */
  async function abandon(
    location: string,
    upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
  ): Promise<void> {
    using deadline = linkAbort(undefined, abortUploadMs);
    const send = (attempt: Try): Promise<Outcome<unknown>> =>
      requests.send<unknown>({
        operation: 'AbortMultipartUpload',
        location,
        attempt,
        send: ({ sdk, client }, options) => client.send(new sdk.AbortMultipartUploadCommand(upload), options),
        onFailure: ({ status }) => (status === 404 ? done(undefined) : undefined),
      });
    // What went wrong before is what the caller is told.
    await runner.run({ bytes: 0, what: location, signal: deadline.signal }, send).catch(() => undefined);
  }
}

function conditionOf(ifAbsent: boolean, ifVersion: string | undefined): Condition {
  if (ifVersion !== undefined) return { kind: 'version', version: ifVersion };
  return { kind: ifAbsent ? 'absent' : 'none' };
}

/** An object that was to be replaced and is not there any more is answered as 404. */
function isUnmet({ kind }: Condition, status: number): boolean {
  return status === 412 || (kind === 'version' && status === 404);
}

async function readPart(file: FileHandle, name: string, start: number, end: number): Promise<Uint8Array> {
  const part = Buffer.allocUnsafeSlow(end - start);
  for (let done = 0; done < part.length; ) {
    const { bytesRead } = await file.read(part, done, part.length - done, start + done);
    if (bytesRead === 0)
      throw new QueryError('STORAGE_ERROR', `The file to be moved to ${name} became shorter meanwhile.`);
    done += bytesRead;
  }
  return part;
}

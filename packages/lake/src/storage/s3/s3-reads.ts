/** Ranges, heads and listings of S3, a request at a time. */
import type { Readable } from 'node:stream';
import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import { QueryError } from '@svc/base';
import type { ListEntry, ObjectInfo, ReadOptions } from '../object-store.js';
import { contentRange } from '../remote/content-range.js';
import { done, type Outcome, type Try } from '../remote/outcome.js';
import { readBody } from '../remote/read-body.js';
import {
  changedError,
  type RangeAnswer,
  type RangeRequest,
  type RangeSource,
} from '../remote/remote-reads.js';
import type { RequestRunner } from '../remote/request-runner.js';
import { parseS3Location, parseS3Object } from './s3-location.js';
import type { S3Requests } from './s3-requests.js';

/** A folder with more names is refused: the list would be held in memory. */
const maxListedNames = 1_000_000;
/** Servers answer some of these behind deleted objects. */
const maxEmptyPages = 200;

export function createS3Source(requests: S3Requests): RangeSource {
  return { head, get };

  async function head(location: string, attempt: Try): Promise<Outcome<ObjectInfo>> {
    const { bucket, key } = parseS3Object(location);
    const headed = await requests.send<HeadObjectCommandOutput | undefined>({
      operation: 'HeadObject',
      location,
      attempt,
      send: ({ sdk, client }, options) =>
        client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }), options),
      // The answer to HEAD has no body that says why; the same refusal of a read has.
      onFailure: ({ status }) => (status === 400 || status === 403 ? done(undefined) : undefined),
    });
    if (headed.kind === 'again') return headed;
    if (headed.value !== undefined) return done(infoOf(location, headed.value));
    const range = { start: 0, end: 1 };
    const got = await get({ location, range, version: undefined, into: undefined }, attempt);
    if (got.kind === 'again') return got;
    return done({ location, sizeBytes: got.value.sizeBytes, version: got.value.version });
  }

  async function get(request: RangeRequest, attempt: Try): Promise<Outcome<RangeAnswer>> {
    const { location, range, version } = request;
    const { bucket, key } = parseS3Object(location);
    const input = {
      Bucket: bucket,
      Key: key,
      Range: `bytes=${range.start}-${range.end - 1}`,
      ...(version !== undefined && { IfMatch: version }),
    };
    const got = await requests.send<RangeAnswer | undefined>({
      operation: 'GetObject',
      location,
      attempt,
      send: async ({ sdk, client }, options) => {
        const answer = await client.send(new sdk.GetObjectCommand(input), options);
        return readAnswer(request, answer, attempt);
      },
      onFailure: ({ status }) => {
        if (status === 412) throw changedError(location);
        return status === 416 ? done(undefined) : undefined;
      },
    });
    if (got.kind === 'again') return got;
    if (got.value !== undefined) return done(got.value);
    // The range starts behind the end, which is for the caller to judge.
    const headed = await head(location, attempt);
    if (headed.kind === 'again') return headed;
    const { sizeBytes, version: found } = headed.value;
    if (sizeBytes > range.start) throw changedError(location);
    return done({ sizeBytes, version: found, bytes: new Uint8Array(0) });
  }

  async function readAnswer(
    { location, range, version, into }: RangeRequest,
    answer: GetObjectCommandOutput,
    attempt: Try,
  ): Promise<RangeAnswer> {
    attempt.heard(0);
    // The SDK's type is that of all platforms; in Node.js a body is a Readable.
    const body = answer.Body as Readable;
    try {
      const found = versionOf(location, answer.ETag);
      if (version !== undefined && found !== version) throw changedError(location);
      const { start, end, sizeBytes } = contentRange(answer.ContentRange) ?? {
        start: 0,
        end: answer.ContentLength ?? -1,
        sizeBytes: answer.ContentLength ?? -1,
      };
      if (start !== range.start || end !== Math.min(range.end, sizeBytes))
        throw new QueryError(
          'STORAGE_ERROR',
          `Storage answered bytes ${start} to ${end} of ${location} where ${range.start} to ${range.end} were asked for.`,
        );
      const heard = (bytes: number): void => {
        attempt.heard(bytes);
        requests.metrics?.s3BytesRead.inc(bytes);
      };
      const bytes = await readBody(body, end - start, { ...attempt, heard }, into);
      if (bytes?.length === end - start) return { sizeBytes, version: found, bytes };
      throw shortAnswer(location);
    } finally {
      body.destroy();
    }
  }
}

/** Names directly below a prefix, page by page. A prefix without objects is an empty folder. */
export function createS3List(
  requests: S3Requests,
  runner: RequestRunner,
): (folder: string, options?: ReadOptions) => Promise<readonly ListEntry[]> {
  return async (folder, { signal } = {}) => {
    const { bucket, key } = parseS3Location(folder);
    const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
    const folders = new Set<string>();
    const files = new Set<string>();
    let token: string | undefined;
    let [pages, emptyPages] = [0, 0];
    do {
      const page = await listPage(token);
      pages += 1;
      emptyPages += (page.CommonPrefixes?.length ?? 0) + (page.Contents?.length ?? 0) === 0 ? 1 : 0;
      const decoded = page.EncodingType === 'url' ? urlDecoded : asItIs;
      for (const { Prefix } of page.CommonPrefixes ?? [])
        folders.add(decoded(Prefix).slice(prefix.length).replace(/\/$/, ''));
      for (const { Key } of page.Contents ?? []) files.add(decoded(Key).slice(prefix.length));
      if (folders.size + files.size > maxListedNames)
        throw new QueryError('STORAGE_ERROR', `${folder} has more than ${maxListedNames} names.`, {
          retryable: false,
        });
      const next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (
        next !== undefined &&
        (next === token || emptyPages > maxEmptyPages || pages > maxListedNames / 100)
      )
        throw new QueryError('STORAGE_ERROR', `Listing ${folder} does not come to an end.`, {
          retryable: false,
        });
      token = next;
    } while (token !== undefined);
    // The object that marks the folder itself, and names that only a double slash makes, are nobody's.
    files.delete('');
    folders.delete('');
    return [
      ...[...folders].map((name) => ({ name, isFolder: true })),
      ...[...files].map((name) => ({ name, isFolder: false })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));

    function listPage(from: string | undefined): Promise<ListObjectsV2CommandOutput> {
      return runner.run({ bytes: 0, what: folder, signal }, (attempt) =>
        requests.send<ListObjectsV2CommandOutput>({
          operation: 'ListObjectsV2',
          location: folder,
          attempt,
          send: ({ sdk, client }, options) =>
            client.send(
              new sdk.ListObjectsV2Command({
                Bucket: bucket,
                Prefix: prefix,
                Delimiter: '/',
                EncodingType: 'url', // XML cannot hold every character that a key can.
                ...(from !== undefined && { ContinuationToken: from }),
              }),
              options,
            ),
        }),
      );
    }
  };
}

function asItIs(name = ''): string {
  return name;
}

function urlDecoded(name = ''): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

function infoOf(location: string, { ContentLength, ETag }: HeadObjectCommandOutput): ObjectInfo {
  const version = versionOf(location, ETag);
  if (ContentLength === undefined) throw notS3(location, 'length');
  return { location, sizeBytes: ContentLength, version };
}

function versionOf(location: string, etag: string | undefined): string {
  if (etag === undefined || etag === '') throw notS3(location, 'ETag');
  return etag;
}

function notS3(location: string, what: string): QueryError {
  return new QueryError(
    'STORAGE_ERROR',
    `The answer for ${location} has no ${what}, as every answer of S3 has: check \`storage.s3_endpoint\`.`,
    { retryable: false },
  );
}

function shortAnswer(location: string): QueryError {
  return new QueryError('STORAGE_ERROR', `Storage answered fewer bytes of ${location} than it announced.`);
}

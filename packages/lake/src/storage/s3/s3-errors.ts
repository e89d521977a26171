/** What failed requests to S3 mean. Messages name the object, never a credential or a signed header. */
import { QueryError } from '@svc/base';
import { passingNetworkCode } from '../remote/network-errors.js';
import type { Outcome } from '../remote/outcome.js';
import { EndlessAnswer } from './bounded-answers.js';
import { parseS3Location } from './s3-location.js';

/** The parts of a failure that servers tell: code, status, the region that the bucket is in. */
export interface S3Failure {
  /** `HTTP status 503` where the server gave none, as in every answer to HEAD. */
  readonly code: string;
  readonly status: number;
  readonly bucketRegion: string | undefined;
  /** Safe to be logged: code, status and the id that the server's log has. */
  readonly cause: Error;
}

const expiredCodes = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired']);
/** Servers that forget temporary credentials at their end do not know them afterwards. */
const forgottenCodes = new Set(['InvalidAccessKeyId', 'InvalidToken', 'InvalidTokenId']);
const overloadCodes = new Set([
  'SlowDown',
  'SlowDownRead',
  'SlowDownWrite',
  'ServiceUnavailable',
  'RequestLimitExceeded',
]);
const passingCodes = new Set([
  'InternalError',
  'RequestTimeout',
  'OperationAborted',
  'ConditionalRequestConflict',
]);

/** `undefined` when no answer of a server is behind it. */
export function s3Failure(caught: unknown): S3Failure | undefined {
  if (!(caught instanceof Error)) return undefined;
  const { $metadata, $response, Code, Region } = caught as Error & {
    readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
    readonly $response?: {
      readonly statusCode?: number;
      readonly headers?: Readonly<Record<string, string>>;
    };
    readonly Code?: unknown;
    readonly Region?: unknown;
  };
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  if (status === undefined) return undefined;
  const named = typeof Code === 'string' ? Code : caught.name;
  const isNamed = /^[A-Z][A-Za-z0-9._-]{0,63}$/.test(named) && !/^Unknown|Error$/.test(named);
  const code = isNamed || passingCodes.has(named) ? named : `HTTP status ${status}`;
  const region =
    $response?.headers?.['x-amz-bucket-region'] ?? (typeof Region === 'string' ? Region : undefined);
  const id = $metadata?.requestId;
  return {
    code,
    status,
    bucketRegion: region !== undefined && /^[a-z0-9-]{1,40}$/.test(region) ? region : undefined,
    cause: new Error(`${code}, status ${status}${id === undefined ? '' : `, request id ${id}`}`),
  };
}

/** Whether newer credentials may be taken where these are not. */
export function isOutlived({ code }: S3Failure): boolean {
  return expiredCodes.has(code) || forgottenCodes.has(code);
}

/** A failed request as the outcome of its try: credentials that are no longer taken are worth another one at once. Throws what will not pass. */
export function s3Outcome(caught: unknown, location: string, region: string): Outcome<never> {
  const failure = s3Failure(caught);
  if (failure === undefined) return networkOutcome(caught, location);
  const { code, status, cause } = failure;
  if (isOutlived(failure)) return { kind: 'again', error: deniedError(failure, location), afterMs: 0 };
  const isOverloaded = overloadCodes.has(code) || status === 503 || status === 429;
  if (isOverloaded || passingCodes.has(code) || status === 500 || status === 502 || status === 504)
    return {
      kind: 'again',
      isOverloaded,
      error: new QueryError('STORAGE_ERROR', `Storage answers ${code} for ${location}.`, {
        cause,
      }),
    };
  throw finalError(failure, location, region);
}

function finalError(failure: S3Failure, location: string, region: string): QueryError {
  const { code, status, bucketRegion, cause } = failure;
  const { bucket } = parseS3Location(location);
  if (bucketRegion !== undefined && bucketRegion !== region)
    return permanent(
      `The bucket ${bucket} lies in the region ${bucketRegion}, but requests are made for ${region}: set \`storage.s3_region\`.`,
      cause,
    );
  if (code === 'NoSuchBucket')
    return new QueryError('DATA_FILE_MISSING', `The bucket ${bucket} does not exist (${location}).`, {
      cause,
    });
  if (status === 404)
    return new QueryError('DATA_FILE_MISSING', `The file ${location} does not exist.`, { cause });
  if (status === 401 || status === 403) return deniedError(failure, location);
  if (status >= 300 && status < 400)
    return permanent(
      `Storage answers for ${location} that the bucket ${bucket} is served elsewhere: check \`storage.s3_endpoint\` and \`storage.s3_region\`.`,
      cause,
    );
  if (status < 300)
    return permanent(
      `The answer for ${location} is none that S3 gives: check \`storage.s3_endpoint\`.`,
      cause,
    );
  return permanent(`Storage refuses the request for ${location} (${code}).`, cause);
}

function deniedError({ code, cause }: S3Failure, location: string): QueryError {
  const message = `Storage denies access to ${location} (${reasonOf(code)}).`;
  return new QueryError('STORAGE_ACCESS_DENIED', message, { cause });
}

function reasonOf(code: string): string {
  switch (code) {
    case 'InvalidAccessKeyId':
      return 'the access key is not known there';
    case 'SignatureDoesNotMatch':
      return 'the secret key does not fit the access key';
    case 'RequestTimeTooSkewed':
      return 'the clock of this machine is wrong';
    case 'InvalidToken':
    case 'InvalidTokenId':
      return 'the session token is not valid';
    default:
      return expiredCodes.has(code) ? 'the credentials have expired' : code;
  }
}

function networkOutcome(caught: unknown, location: string): Outcome<never> {
  if (caught instanceof QueryError) throw caught;
  if (caught instanceof Error && caught.name === 'CredentialsProviderError')
    throw new QueryError(
      'STORAGE_ACCESS_DENIED',
      `There are no credentials for ${location}: set \`storage.s3_access_key\` and \`storage.s3_secret_key\`, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or an AWS profile; a public bucket needs \`storage.s3_anonymous\`.`,
    );
  if (caught instanceof EndlessAnswer)
    throw permanent(
      `The answer for ${location} is larger than any that S3 gives: check \`storage.s3_endpoint\`.`,
      caught,
    );
  const code = passingNetworkCode(caught);
  if (code !== undefined)
    return {
      kind: 'again',
      error: new QueryError(
        'STORAGE_ERROR',
        `The connection to the storage of ${location} failed (${code}).`,
      ),
    };
  throw QueryError.from(caught);
}

function permanent(message: string, cause: Error): QueryError {
  return new QueryError('STORAGE_ERROR', message, { cause, retryable: false });
}

import { QueryError } from '@svc/base';

export interface S3Location {
  readonly bucket: string;
  /** As it is, nothing decoded: `?`, `#` and `%` are part of a key. Empty for the bucket itself. */
  readonly key: string;
}

const maxKeyBytes = 1024;
/** Also as servers read it that decode more than they should. */
const climbing = /^(?:\.|%2e){1,2}$/i;

/** `s3://bucket/key`; `s3a:` and `s3n:` are older names of the same. Throws INVALID_ARGUMENT. */
export function parseS3Location(location: string): S3Location {
  const match = /^s3[an]?:\/\/([^/]*)(?:\/(.*))?$/is.exec(location);
  const bucket = match?.[1] ?? '';
  const key = match?.[2] ?? '';
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i.test(bucket))
    throw new QueryError(
      'INVALID_ARGUMENT',
      `The location ${JSON.stringify(location)} names no bucket: it should be s3://bucket/key.`,
    );
  if (Buffer.byteLength(key) > maxKeyBytes)
    throw new QueryError(
      'INVALID_ARGUMENT',
      `The key of a location in bucket ${bucket} has ${Buffer.byteLength(key)} bytes; at most ${maxKeyBytes} are possible.`,
    );
  if (key.split('/').some((segment) => climbing.test(segment)))
    throw new QueryError(
      'INVALID_ARGUMENT',
      `The location ${JSON.stringify(location)} has a part that is "." or "..": servers may take it for another place than it says.`,
    );
  return { bucket, key };
}

/** The location of an object: a bucket alone is none. */
export function parseS3Object(location: string): S3Location {
  const parsed = parseS3Location(location);
  if (parsed.key === '')
    throw new QueryError(
      'INVALID_ARGUMENT',
      `The location ${JSON.stringify(location)} names a bucket and no object: it should be s3://bucket/key.`,
    );
  return parsed;
}

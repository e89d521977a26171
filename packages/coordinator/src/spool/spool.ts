/**
 * The bucket of what is too large to travel with a fragment or in its answer: the service's own, with the coordinator's own
 * role. Others read and put single objects by signed addresses. A rule of the bucket removes what is left behind.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type Config, type Logger, type Metrics, QueryError } from '@svc/base';
import { createS3Signer, createS3Store, mapConcurrently, type ObjectStore, type S3Signer } from '@svc/lake';
import { LateObjects } from './late-objects.js';

export interface Spool {
  /** `s3://bucket/prefix`. */
  readonly location: string;
  readonly store: ObjectStore;
  readonly signer: S3Signer;
  /** What may still be put there when it has been removed. */
  readonly late: LateObjects;
}

/** As long as an invocation may take, and its answer be put. */
const signedSeconds = 20 * 60;
const maxConcurrent = 8;
const deleteMs = 60_000;

/** Undefined where there is none. Nothing is sent yet. */
export function openSpool(config: Config, metrics: Metrics): Spool | undefined {
  const location = config['fragments.spool_location'];
  if (location === undefined) return undefined;
  // Nothing of a user is read with these.
  const place = {
    endpoint: config['fragments.spool_endpoint'],
    region: config['fragments.spool_region'],
    access: { kind: 'standard' },
  } as const;
  return {
    location,
    store: createS3Store({ ...place, metrics }),
    signer: createS3Signer(place),
    late: new LateObjects(),
  };
}

/** One that nobody else has, below that of the query. */
export function newSpoolFolder({ location }: Pick<Spool, 'location'>, queryId: string): string {
  return `${location.replace(/\/+$/, '')}/${folderName(queryId)}/${randomUUID()}`;
}

/** Addresses by which whoever has one may do this, and nothing else. */
export async function signAll(
  { signer }: Pick<Spool, 'signer'>,
  method: 'GET' | 'PUT',
  locations: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  return await mapConcurrently(locations, { maxConcurrent, signal }, (location) =>
    signer.sign(method, location, signedSeconds, signal),
  );
}

/** Whether they are there or not. Never throws. */
export async function removeSpooled(
  { store }: Pick<Spool, 'store'>,
  locations: readonly string[],
  logger: Logger,
): Promise<void> {
  const signal = AbortSignal.timeout(deleteMs);
  try {
    await mapConcurrently(locations, { maxConcurrent, signal }, (location) =>
      store.delete(location, { signal }),
    );
  } catch (error) {
    const { code } = QueryError.from(error);
    logger.log('warn', 'objects stay in the spool until they expire', { error_code: code });
  }
}

/** Ids are our own; what they are used for here must hold of any. */
function folderName(queryId: string): string {
  return /^[\w-]{1,128}$/.test(queryId) ? queryId : createHash('sha256').update(queryId).digest('hex');
}

/** Opens what a store was granted on another machine: these files and no others, and to read only. */
import { abortable, QueryError } from '@svc/base';
import { displayLocation } from './display-location.js';
import { createFileStore } from './file-store.js';
import { hasDotSteps, longestPrefix } from './location-prefix.js';
import { createRoutedStore, schemeOf } from './location-store.js';
import type { ObjectStore } from './object-store.js';
import { isCredentialText, isRegionName, isServerAddress } from './s3/place-text.js';
import type { S3Credentials } from './s3/renewing-credentials.js';
import { createS3Store, type S3StoreOptions } from './s3/s3-store.js';
import type { GrantedPrefix, GrantedS3, StoreGrant } from './store-grant.js';

export interface OpenGrantedOptions
  extends Pick<S3StoreOptions, 'connections' | 'traffic' | 'metrics' | 'limits'> {
  /** Asks whoever granted it for newer credentials. Without it the files are open for as long as those at hand last. */
  readonly renew?: ((signal: AbortSignal) => Promise<StoreGrant>) | undefined;
  /** Files of this machine are those of the one that granted them. */
  readonly allowLocalFiles?: boolean;
}

/** Throws FRAGMENT_REFUSED for a grant that cannot be one, NOT_SUPPORTED for files of another machine. */
export function openGranted(grant: StoreGrant, options: OpenGrantedOptions): ObjectStore {
  if (grant.kind === 's3') return openS3(grant, options);
  if (options.allowLocalFiles === true) return readOnly(createFileStore());
  throw new QueryError('NOT_SUPPORTED', 'The fragment reads files of another machine.');
}

function openS3(grant: GrantedS3, options: OpenGrantedOptions): ObjectStore {
  for (const prefix of grant.prefixes) checkPrefix(prefix);
  const renew = sharedRenewal(options.renew);
  const stores = new Map<string, ObjectStore>();
  const storeOf = (location: string): ObjectStore => {
    const entry = schemeOf(location) === 's3' ? longestPrefix(grant.prefixes, location) : undefined;
    if (entry === undefined) throw notGranted(location);
    // Whether it leads out of the prefix is for whoever granted it to say.
    if (hasDotSteps(location)) throw notOpened(location);
    const known = stores.get(entry.prefix);
    if (known !== undefined) return known;
    const store = openPrefix(entry, options, renew);
    stores.set(entry.prefix, store);
    return store;
  };
  return readOnly(createRoutedStore(storeOf, { scope: grant.scope }));
}

type Renewal = (signal: AbortSignal) => Promise<readonly GrantedPrefix[]>;

/** All prefixes of a grant are renewed together. */
function sharedRenewal(renew: OpenGrantedOptions['renew']): Renewal | undefined {
  if (renew === undefined) return undefined;
  let asking: Promise<readonly GrantedPrefix[]> | undefined;
  return async (signal) => {
    asking ??= ask(renew, signal).finally(() => {
      asking = undefined;
    });
    return await abortable(asking, signal);
  };
}

async function ask(
  renew: NonNullable<OpenGrantedOptions['renew']>,
  signal: AbortSignal,
): Promise<readonly GrantedPrefix[]> {
  const renewed = await renew(signal);
  const prefixes = renewed.kind === 's3' ? renewed.prefixes : [];
  for (const prefix of prefixes) checkPrefix(prefix);
  return prefixes;
}

function openPrefix(
  entry: GrantedPrefix,
  { connections, traffic, metrics, limits }: OpenGrantedOptions,
  renew: Renewal | undefined,
): ObjectStore {
  const { prefix, endpoint, region, pathStyle } = entry;
  let unused: GrantedPrefix | undefined = entry;
  const provide = async (signal: AbortSignal): Promise<S3Credentials> => {
    const isOver = (entry.expiresAtMs ?? Number.POSITIVE_INFINITY) <= Date.now();
    // Whoever asks again needs newer ones; nobody to ask means that these are used until their end.
    const given = renew === undefined ? entry : unused;
    unused = undefined;
    if (given !== undefined && !isOver) return credentialsOf(given);
    const renewed = (await renew?.(signal)) ?? [];
    const same =
      renewed.find((each) => each.prefix === prefix) ?? (renewed.length === 1 ? renewed[0] : undefined);
    if (same === undefined) throw expired(prefix);
    return credentialsOf(same);
  };
  return createS3Store({
    connections,
    traffic,
    metrics,
    limits,
    endpoint,
    region,
    pathStyle,
    access: { kind: 'provider', provide },
  });
}

function credentialsOf({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  expiresAtMs,
}: GrantedPrefix): S3Credentials {
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken,
    ...(expiresAtMs !== undefined && { expiresAt: new Date(expiresAtMs) }),
  };
}

function checkPrefix({ endpoint, region, accessKeyId, secretAccessKey, sessionToken }: GrantedPrefix): void {
  const isPlace =
    (endpoint === undefined || isServerAddress(endpoint)) && (region === undefined || isRegionName(region));
  if (!isPlace || ![accessKeyId, secretAccessKey, sessionToken ?? 'none'].every(isCredentialText))
    throw new QueryError('FRAGMENT_REFUSED', 'What the fragment was granted cannot be opened.');
}

function readOnly(store: ObjectStore): ObjectStore {
  const refuse = async (location: string): Promise<never> => {
    throw new QueryError(
      'STORAGE_ACCESS_DENIED',
      `The fragment may read ${displayLocation(location)}, not write or delete it.`,
    );
  };
  // What was granted is not handed on.
  const { grant: _grant, ...rest } = store;
  return { ...rest, write: refuse, moveIn: refuse, delete: refuse };
}

function notGranted(location: string): QueryError {
  return new QueryError(
    'STORAGE_ACCESS_DENIED',
    `The fragment was given no credentials for ${displayLocation(location)}.`,
  );
}

function notOpened(location: string): QueryError {
  return new QueryError(
    'NOT_SUPPORTED',
    `${displayLocation(location)} has steps of dots: a fragment does not open it.`,
  );
}

function expired(prefix: string): QueryError {
  return new QueryError(
    'STORAGE_ACCESS_DENIED',
    `The credentials of the fragment have expired${prefix === '' ? '' : ` (${displayLocation(prefix)})`}.`,
  );
}

/**
 * The files of one table, with the credentials that the catalog gave out for them: to this user, for this table. For each
 * location those of the longest prefix count (REST OpenAPI, StorageCredential); without any, nothing is opened.
 */
import { QueryError } from '@svc/base';
import { displayLocation } from '../../storage/display-location.js';
import { createRoutedStore, schemeOf } from '../../storage/location-store.js';
import type { ObjectStore } from '../../storage/object-store.js';
import { renewalTimeMs, type S3Credentials } from '../../storage/s3/renewing-credentials.js';
import { createS3Store, type S3StoreOptions } from '../../storage/s3/s3-store.js';
import { isWithin, prefixLength } from './location-prefix.js';
import { catalogError } from './rest-errors.js';
import { createStaticReads } from './static-reads.js';

/** Properties for locations that begin with `prefix`; those of the table itself have the prefix ''. */
export interface VendedProperties {
  readonly prefix: string;
  readonly properties: ReadonlyMap<string, string>;
}

export interface VendedStoreOptions {
  /** Names the table in messages. */
  readonly tableName: string;
  /** Where the catalog says that the table is. */
  readonly tableLocation: string;
  /** Which catalog's table it is; see ObjectStore. */
  readonly scope: string;
  readonly vended: readonly VendedProperties[];
  /** Asks the catalog anew, as the same user. */
  renew(signal: AbortSignal): Promise<readonly VendedProperties[]>;
  /** What the catalog does not say: where storage is. */
  readonly place: Pick<
    S3StoreOptions,
    'endpoint' | 'region' | 'pathStyle' | 'connections' | 'traffic' | 'metrics'
  >;
  /** Opens files of a table for which the catalog gave out nothing, where the service was told so; see createStaticReads. */
  readonly fallback: ObjectStore | undefined;
}

/** Properties of Iceberg's S3FileIO and AwsClientProperties. */
const accessKey = 's3.access-key-id';
const secretKey = 's3.secret-access-key';
const sessionToken = 's3.session-token';
const expiresAtMs = 's3.session-token-expires-at-ms';
const endpoint = 's3.endpoint';
const pathStyle = 's3.path-style-access';
const regions = ['client.region', 's3.region'];
/** Those that say where storage is. */
export const placeProperties: ReadonlySet<string> = new Set([endpoint, pathStyle, ...regions]);
const remoteSigning = 's3.remote-signing-enabled';

export function createVendedStore(options: VendedStoreOptions): ObjectStore {
  const { fallback, vended } = options;
  const stores = new Map<string, ObjectStore>();
  // Beside credentials of the user's own there are no others, wherever a file may lie.
  const givesNothing = !vended.some(({ properties }) => properties.has(accessKey));
  const unvended = fallback !== undefined && givesNothing ? createStaticReads(fallback, options) : undefined;
  const storeOf = (location: string): ObjectStore => {
    if (schemeOf(location) !== 's3') throw notOpened(options, location);
    const entry = entryFor(vended, location);
    if (entry === undefined) return unvended ?? throwNothingVended(options, location);
    const known = stores.get(entry.prefix);
    if (known !== undefined) return known;
    const store = openEntry(options, entry);
    stores.set(entry.prefix, store);
    return store;
  };
  const servers = new Set(vended.map(({ properties }) => endpointOf(options, properties) ?? ''));
  return createRoutedStore(storeOf, { scope: JSON.stringify([options.scope, ...servers]) });
}

function endpointOf(
  { place }: VendedStoreOptions,
  properties: VendedProperties['properties'],
): string | undefined {
  return place.endpoint ?? properties.get(endpoint);
}

/** The entry with keys whose prefix is the longest that the location begins with. */
function entryFor(vended: readonly VendedProperties[], location: string): VendedProperties | undefined {
  let best: VendedProperties | undefined;
  for (const each of vended) {
    if (!each.properties.has(accessKey) || !isWithin(location, each.prefix)) continue;
    if (best === undefined || prefixLength(each.prefix) > prefixLength(best.prefix)) best = each;
  }
  return best;
}

/** Renewed ones may come under a prefix though the first ones came with the table itself. */
function sameEntry(vended: readonly VendedProperties[], prefix: string): VendedProperties | undefined {
  const withKeys = vended.filter(({ properties }) => properties.has(accessKey));
  const same = withKeys.find((each) => each.prefix === prefix);
  return same ?? (prefix === '' && withKeys.length === 1 ? withKeys[0] : undefined);
}

function openEntry(options: VendedStoreOptions, { prefix, properties }: VendedProperties): ObjectStore {
  const { place, renew, tableName } = options;
  const server = endpointOf(options, properties);
  if (server !== undefined && !isWebAddress(server))
    throw catalogError(`names a storage server for ${tableName} that is no http or https address`, {
      retryable: false,
    });
  let current: ReadonlyMap<string, string> | undefined = properties;
  const region = regions.map((name) => properties.get(name)).find((each) => each !== undefined);
  // It becomes part of a host's name.
  if (region !== undefined && !/^[a-z0-9-]{1,63}$/i.test(region))
    throw catalogError(`names a storage region for ${tableName} that is none`, { retryable: false });
  const style = properties.get(pathStyle);
  return createS3Store({
    ...place,
    endpoint: server,
    region: region ?? place.region,
    pathStyle: style === undefined ? place.pathStyle : style.toLowerCase() === 'true',
    access: {
      kind: 'provider',
      provide: async (signal) => {
        // Those that came with the table are used first, unless that was too long ago; whoever asks again needs newer ones.
        const isOver = current !== undefined && (expiryOf(current) ?? Infinity) <= Date.now();
        const given = (isOver ? undefined : current) ?? sameEntry(await renew(signal), prefix)?.properties;
        current = undefined;
        if (given === undefined)
          throw new QueryError(
            'STORAGE_ACCESS_DENIED',
            `The catalog no longer gives out credentials for ${tableName} below ${displayLocation(prefix)}.`,
          );
        return credentialsOf(given, tableName);
      },
    },
  });
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

function credentialsOf(properties: ReadonlyMap<string, string>, tableName: string): S3Credentials {
  const accessKeyId = properties.get(accessKey);
  const secretAccessKey = properties.get(secretKey);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw catalogError(`gives out only half of the credentials for ${tableName}`, { retryable: false });
  const token = properties.get(sessionToken);
  // They become headers of requests.
  if (![accessKeyId, secretAccessKey, token ?? 'none'].every((each) => /^[\x20-\x7e]+$/.test(each)))
    throw catalogError(`gives out credentials for ${tableName} that cannot be any`, { retryable: false });
  const expiryMs = expiryOf(properties);
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: token,
    ...(expiryMs !== undefined && { expiresAt: new Date(expiryMs) }),
  };
}

/** Until the first of the credentials is near its end. Those that tell none are used until storage refuses them. */
export function vendedUntilMs(vended: readonly VendedProperties[], nowMs: number): number {
  const ends = vended.flatMap(({ properties }) => expiryOf(properties) ?? []);
  return Math.min(...ends.map((endMs) => renewalTimeMs(endMs, nowMs)));
}

function expiryOf(properties: VendedProperties['properties']): number | undefined {
  const expiry = properties.get(expiresAtMs);
  return expiry !== undefined && /^\d{1,15}$/.test(expiry) ? Number(expiry) : undefined;
}

function notOpened({ tableName }: VendedStoreOptions, location: string): QueryError {
  return new QueryError(
    'NOT_SUPPORTED',
    `${tableName} has files at ${JSON.stringify(displayLocation(location))}: of tables of this catalog only s3:// is read.`,
  );
}

function throwNothingVended({ tableName, vended }: VendedStoreOptions, location: string): never {
  const isSigning = vended.some(({ properties }) => properties.get(remoteSigning)?.toLowerCase() === 'true');
  if (isSigning)
    throw new QueryError(
      'NOT_SUPPORTED',
      `The catalog wants to sign each request for ${tableName}; only credentials that it gives out are used.`,
    );
  throw new QueryError(
    'STORAGE_ACCESS_DENIED',
    `The catalog gave this user no credentials for ${tableName} (${displayLocation(location)}).`,
  );
}

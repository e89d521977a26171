/**
 * The files of one table, with the credentials that the catalog gave out for them: to this user, for this table. For each
 * location those of the longest prefix count (REST OpenAPI, StorageCredential); without any, nothing is opened.
 */
import { abortable, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import { displayLocation } from '../../storage/display-location.js';
import { longestPrefix } from '../../storage/location-prefix.js';
import { createRoutedStore, schemeOf } from '../../storage/location-store.js';
import type { ObjectStore } from '../../storage/object-store.js';
import { isCredentialText, isRegionName, isServerAddress } from '../../storage/s3/place-text.js';
import { renewalTimeMs, type S3Credentials } from '../../storage/s3/renewing-credentials.js';
import { createS3Store, type S3StoreOptions } from '../../storage/s3/s3-store.js';
import type { GrantedPrefix } from '../../storage/store-grant.js';
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

/** What is granted lasts for so long, or for half of what the catalog gives. */
const minGrantMs = 5 * 60_000;
const maxRenewalMs = 60_000;

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
  const scope = JSON.stringify([options.scope, ...servers]);
  // Keys of the service itself never leave its process: what only they open is read here.
  const grant = givesNothing ? undefined : createVendedGrant({ ...options, scope });
  return createRoutedStore(storeOf, { scope, grant });
}

/** What another machine needs to open the same files, with credentials that last for a while yet. */
function createVendedGrant(options: VendedStoreOptions): NonNullable<ObjectStore['grant']> {
  let [current, sinceMs] = [options.vended, Date.now()];
  const isNearEnd = (): boolean => {
    const endMs = endOf(current);
    return endMs - Date.now() < Math.min(minGrantMs, (endMs - sinceMs) / 2);
  };
  let renewing: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    using abort = linkAbort(undefined, maxRenewalMs);
    const renewed = await abortable(options.renew(abort.signal), abort.signal);
    [current, sinceMs] = [renewed, Date.now()];
  };
  return async (signal) => {
    if (isNearEnd()) {
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      try {
        await abortable(renewing, signal);
      } catch (error) {
        throwIfAborted(signal);
        // Those at hand are good for a while yet.
        if (endOf(current) <= Date.now()) throw error;
      }
    }
    const prefixes = withKeys(options.vended).flatMap(({ prefix, properties }): readonly GrantedPrefix[] => {
      const given = sameEntry(current, prefix);
      if (given === undefined) return [];
      const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = credentialsOf(
        given.properties,
        options.tableName,
      );
      const keys = { accessKeyId, secretAccessKey, sessionToken };
      // Renewed credentials do not say again where storage is.
      return [{ prefix, ...placeOf(options, properties), ...keys, expiresAtMs: expiresAt?.getTime() }];
    });
    if (prefixes.length === 0)
      throw new QueryError(
        'STORAGE_ACCESS_DENIED',
        `The catalog no longer gives out credentials for ${options.tableName}.`,
      );
    return { kind: 's3', scope: options.scope, prefixes };
  };
}

function endOf(vended: readonly VendedProperties[]): number {
  return Math.min(
    ...withKeys(vended).map(({ properties }) => expiryOf(properties) ?? Number.POSITIVE_INFINITY),
  );
}

function endpointOf(
  { place }: VendedStoreOptions,
  properties: VendedProperties['properties'],
): string | undefined {
  return place.endpoint ?? properties.get(endpoint);
}

/** The entry with keys whose prefix is the longest that the location begins with. */
function entryFor(vended: readonly VendedProperties[], location: string): VendedProperties | undefined {
  return longestPrefix(withKeys(vended), location);
}

/** Renewed ones may come under a prefix though the first ones came with the table itself. */
function sameEntry(vended: readonly VendedProperties[], prefix: string): VendedProperties | undefined {
  const keyed = withKeys(vended);
  const same = keyed.find((each) => each.prefix === prefix);
  return same ?? (prefix === '' && keyed.length === 1 ? keyed[0] : undefined);
}

function withKeys(vended: readonly VendedProperties[]): readonly VendedProperties[] {
  return vended.filter(({ properties }) => properties.has(accessKey));
}

function openEntry(options: VendedStoreOptions, { prefix, properties }: VendedProperties): ObjectStore {
  const { place, renew, tableName } = options;
  let current: ReadonlyMap<string, string> | undefined = properties;
  return createS3Store({
    ...place,
    ...placeOf(options, properties),
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

/** Where storage is, by the catalog's word and the service's own. */
function placeOf(
  options: VendedStoreOptions,
  properties: VendedProperties['properties'],
): Pick<GrantedPrefix, 'endpoint' | 'region' | 'pathStyle'> {
  const { place, tableName } = options;
  const server = endpointOf(options, properties);
  if (server !== undefined && !isServerAddress(server))
    throw catalogError(`names a storage server for ${tableName} that is no http or https address`, {
      retryable: false,
    });
  const region = regions.map((name) => properties.get(name)).find((each) => each !== undefined);
  if (region !== undefined && !isRegionName(region))
    throw catalogError(`names a storage region for ${tableName} that is none`, { retryable: false });
  const style = properties.get(pathStyle);
  return {
    endpoint: server,
    region: region ?? place.region,
    pathStyle: style === undefined ? place.pathStyle : style.toLowerCase() === 'true',
  };
}

function credentialsOf(properties: ReadonlyMap<string, string>, tableName: string): S3Credentials {
  const accessKeyId = properties.get(accessKey);
  const secretAccessKey = properties.get(secretKey);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw catalogError(`gives out only half of the credentials for ${tableName}`, { retryable: false });
  const token = properties.get(sessionToken);
  if (![accessKeyId, secretAccessKey, token ?? 'none'].every(isCredentialText))
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

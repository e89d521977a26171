/** The client of the AWS SDK. It is loaded with the first request, as loading takes longer than many a statement. */
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { QueryError } from '@svc/base';
import { boundAnswers } from './bounded-answers.js';
import { RenewingCredentials, type S3CredentialProvider } from './renewing-credentials.js';

type Sdk = typeof import('@aws-sdk/client-s3');

export type S3Access =
  /** Credentials given out to this user for these tables. */
  | { readonly kind: 'provider'; readonly provide: S3CredentialProvider }
  /**
   * Whatever the AWS SDK finds on this machine: variables, profile, container, instance; region and endpoint too where
   * none is set. Only for a process that belongs to the person who types (`svc sql` without a server), and for a bucket that
   * is the service's own.
   */
  | { readonly kind: 'standard' }
  | { readonly kind: 'anonymous' };

export interface S3Place {
  /** Default: AWS. */
  readonly endpoint?: string | undefined;
  /** Default: us-east-1. */
  readonly region?: string | undefined;
  /** Whether buckets are part of the path and not of the host name. Default: with an endpoint of one's own, yes. */
  readonly pathStyle?: boolean | undefined;
}

export interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** What one request is sent with. */
export interface OpenS3 {
  readonly sdk: Sdk;
  readonly client: S3Client;
  readonly region: string;
  /** Tells the connection which credentials were refused. */
  readonly generation: number;
}

const defaultRegion = 'us-east-1';
/** A chain that answers expired credentials is not asked again and again. */
const minRenewalMs = 10_000;

/** Loads the client before the first request, for a process that will have one. */
export async function loadS3Client(): Promise<void> {
  await import('@aws-sdk/client-s3');
}

export class S3Connection {
  readonly #place: S3Place;
  readonly #access: S3Access;
  readonly #agents: Agents;
  readonly #renewing: RenewingCredentials | undefined;
  #client: Promise<OpenS3> | undefined;
  #clients = 0;
  #openedMs = Number.NEGATIVE_INFINITY;

  constructor(place: S3Place, access: S3Access, agents: Agents) {
    this.#place = place;
    this.#access = access;
    this.#agents = agents;
    if (access.kind === 'provider') this.#renewing = new RenewingCredentials(access.provide);
  }

  async open(signal: AbortSignal | undefined): Promise<OpenS3> {
    this.#client ??= this.#connect();
    const open = await this.#client;
    if (this.#renewing === undefined) return open;
    const { generation } = await this.#renewing.current(signal);
    return { ...open, generation };
  }

  /** The credentials of a request are no longer taken. False when there is no way to newer ones. */
  renew({ generation }: OpenS3, refusal: QueryError): boolean {
    if (this.#renewing !== undefined) {
      this.#renewing.refuse(generation, refusal);
      return true;
    }
    if (this.#access.kind === 'anonymous') return false;
    if (generation !== this.#clients) return true;
    if (performance.now() - this.#openedMs < minRenewalMs) return false;
    this.#client = undefined; // A new client goes through the chain afresh.
    return true;
  }

  async #connect(): Promise<OpenS3> {
    const sdk = await import('@aws-sdk/client-s3');
    this.#clients += 1;
    this.#openedMs = performance.now();
    const client = createClient(sdk, this.#configuration());
    const region = await client.config.region().catch(() => undefined);
    if (region !== undefined) return { sdk, client, region, generation: this.#clients };
    const withRegion = createClient(sdk, { ...this.#configuration(), region: defaultRegion });
    return { sdk, client: withRegion, region: defaultRegion, generation: this.#clients };
  }

  #configuration(): S3ClientConfig {
    const { endpoint, region, pathStyle } = this.#place;
    const isStandard = this.#access.kind === 'standard';
    return {
      ...(endpoint !== undefined && { endpoint }),
      forcePathStyle: pathStyle ?? endpoint !== undefined,
      // Requests are sent again by the one who counts them.
      maxAttempts: 1,
      requestHandler: { ...this.#agents },
      // Newer checksums by default are unknown to many servers; ranges have none to be validated.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      disableS3ExpressSessionAuth: true,
      ...(isStandard
        ? region !== undefined && { region }
        : { ...ownSettings, region: region ?? defaultRegion }),
      ...this.#credentials(),
    };
  }

  #credentials(): S3ClientConfig {
    switch (this.#access.kind) {
      case 'standard':
        return {};
      case 'anonymous':
        return { credentials: nobody, signer: { sign: async (request) => request } };
      case 'provider':
        return { credentials: renewedElsewhere(async () => this.#identity()) };
    }
  }

  async #identity(): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string }> {
    if (this.#renewing === undefined) return nobody;
    const { accessKeyId, secretAccessKey, sessionToken } = (await this.#renewing.current()).credentials;
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  }
}

/** The SDK warns on standard error of versions of Node.js that later releases of it will not run on. This one is pinned. */
function createClient(sdk: Sdk, configuration: S3ClientConfig): S3Client {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return boundAnswers(new sdk.S3Client(configuration));
  } finally {
    process.emitWarning = emitWarning;
  }
}

const nobody = { accessKeyId: '', secretAccessKey: '' };

/** What the SDK would otherwise look up in the environment and in the profile of whoever runs the service. */
const ownSettings: S3ClientConfig = {
  ignoreConfiguredEndpointUrls: true,
  useFipsEndpoint: false,
  useDualstackEndpoint: false,
  useArnRegion: false,
  disableMultiregionAccessPoints: true,
  defaultsMode: 'standard',
  retryMode: 'standard',
  sigv4aSigningRegionSet: [],
};

/** The SDK keeps the credentials of a function for minutes, refused or not, unless the function says that it does so itself. */
function renewedElsewhere<F extends object>(provide: F): F {
  return Object.assign(provide, { memoized: true, configBound: true });
}

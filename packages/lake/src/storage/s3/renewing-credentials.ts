import { abortable, linkAbort, QueryError } from '@svc/base';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Without it they are used until storage says that they have expired. */
  readonly expiresAt?: Date | undefined;
}

/** Asked whenever credentials are needed that are not near their end. Throws a QueryError when there are none. */
export type S3CredentialProvider = (signal: AbortSignal) => Promise<S3Credentials>;

/** What a request was signed with; `generation` tells whether newer credentials are there already. */
export interface CredentialLease {
  readonly credentials: S3Credentials;
  readonly generation: number;
}

/** Credentials are renewed this long before their end, or with a quarter of their life left, whichever is later. */
const maxMarginMs = 60_000;
const marginShare = 0.25;
const maxProviderMs = 60_000;
/** Credentials that come near their end, or past it by a clock that goes wrong, are used for so long nevertheless. */
const minUseMs = 1000;

/** When credentials that are new at `nowMs` should be replaced. */
export function renewalTimeMs(expiresAtMs: number, nowMs: number): number {
  const margin = Math.min(maxMarginMs, Math.max(expiresAtMs - nowMs, 0) * marginShare);
  return expiresAtMs - margin;
}

/** Credentials of one provider: asked for once by all requests that need them, renewed before their end. */
export class RenewingCredentials {
  readonly #provide: S3CredentialProvider;
  readonly #nowMs: () => number;
  #lease: CredentialLease | undefined;
  #renewAtMs = Number.POSITIVE_INFINITY;
  #refused: { readonly credentials: S3Credentials; readonly error: QueryError } | undefined;
  #renewing: Promise<CredentialLease> | undefined;
  #generation = 0;

  constructor(provide: S3CredentialProvider, nowMs: () => number = Date.now) {
    this.#provide = provide;
    this.#nowMs = nowMs;
  }

  async current(signal?: AbortSignal): Promise<CredentialLease> {
    const lease = this.#lease;
    if (lease !== undefined && this.#nowMs() < this.#renewAtMs) return lease;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    this.#renewing.catch(() => undefined); // Whoever waits is told; an aborted request no longer does.
    return abortable(this.#renewing, signal);
  }

  /** Storage takes credentials no longer: the next request asks for new ones, and throws `error` when there are none. */
  refuse(generation: number, error: QueryError): void {
    if (this.#lease?.generation !== generation) return;
    this.#refused = { credentials: this.#lease.credentials, error };
    this.#lease = undefined;
  }

  async #renew(): Promise<CredentialLease> {
    const old = this.#lease;
    const beganMs = this.#nowMs();
    try {
      using abort = linkAbort(undefined, maxProviderMs, providerTimeout);
      const credentials = await abortable(this.#provide(abort.signal), abort.signal);
      const refused = this.#refused;
      if (refused !== undefined && isSame(credentials, refused.credentials)) throw refused.error;
      return this.#keep(credentials, beganMs);
    } catch (error) {
      const expiresAtMs = old?.credentials.expiresAt?.getTime() ?? 0;
      const leftMs = expiresAtMs - this.#nowMs();
      if (old === undefined || this.#lease !== old || leftMs <= 0) throw error;
      // They are good for a while yet, and the provider may be back before their end.
      this.#renewAtMs = this.#nowMs() + leftMs * marginShare;
      return old;
    }
  }

  #keep(credentials: S3Credentials, beganMs: number): CredentialLease {
    const expiresAtMs = credentials.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    this.#renewAtMs = Math.max(renewalTimeMs(expiresAtMs, beganMs), this.#nowMs() + minUseMs);
    this.#generation += 1;
    this.#lease = { credentials, generation: this.#generation };
    return this.#lease;
  }
}

function isSame(a: S3Credentials, b: S3Credentials): boolean {
  return a.accessKeyId === b.accessKeyId && a.sessionToken === b.sessionToken;
}

function providerTimeout(): QueryError {
  return new QueryError(
    'STORAGE_ERROR',
    `No credentials for object storage were given out within ${maxProviderMs / 1000} seconds.`,
  );
}

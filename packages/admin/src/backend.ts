/** Where a request for admins comes from. */
export interface AdminCaller {
  readonly clientAddress: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What the probes, the status document, the metrics endpoint and the endpoints for admins need of the service behind them. */
export interface AdminBackend {
  /** True once the service answers queries; false while it starts and while it drains. */
  isReady(): boolean;
  status(): StatusDocument;
  /** All metrics in the Prometheus text format. */
  metricsText(): Promise<string>;
  /**
   * Whose bearer it is, where that is an admin's. It is no use of the session, and begins none. Throws PERMISSION_DENIED
   * for who is none; UNAUTHENTICATED and its kin for who is not known, which without an identity provider is everybody;
   * IDENTITY_PROVIDER_UNAVAILABLE.
   */
  authorizeAdmin(bearer: string, caller: AdminCaller): Promise<{ readonly username: string }>;
  /** Drops what catalogs told: one user, or all of them and what they share. */
  refreshCatalogs(username: string | undefined): Promise<void>;
}

/** The body of `GET /api/v1/status`, specification section 4.2: it is sent as it is. */
export interface StatusDocument {
  readonly status: 'ACTIVE' | 'STARTING';
  readonly node: {
    readonly role: 'coordinator' | 'worker';
    readonly version: string;
    readonly engineVersion: string;
    /** Whole seconds. */
    readonly uptimeSeconds: number;
  };
  /** Null on a worker. */
  readonly workers: {
    readonly total: number;
    readonly healthy: number;
    readonly healthyUrls: readonly string[];
  } | null;
}

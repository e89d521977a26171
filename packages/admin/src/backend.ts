/** What the probes, the status document and the metrics endpoint need of the service behind them. */
export interface AdminBackend {
  /** True once the service answers queries; false while it starts and while it drains. */
  isReady(): boolean;
  status(): StatusDocument;
  /** All metrics in the Prometheus text format. */
  metricsText(): Promise<string>;
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

/** One resource as Pulumi would have asked the provider for it. */
export interface Resource {
  readonly type: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the provider's schema says; assertions look inside.
  readonly inputs: Readonly<Record<string, any>>;
  /** Names of inputs that are kept as secrets in the state. */
  readonly secrets: readonly string[];
}

export interface Rendering {
  readonly stage: string;
  readonly isDev: boolean;
  /** What `app()` of sst.config.ts answers. */
  readonly app: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Sorted by type and name. */
  readonly resources: readonly Resource[];
}

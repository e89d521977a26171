/**
 * Every decision of the deployment, per stage. What belongs to an owner (names, addresses, secrets) is not here: see
 * `given.ts` and docs/deploy.md.
 */
export interface Settings {
  readonly region: string;
  /** Whether resources that hold anything outlive the removal of the stage, and the stage refuses to be removed. */
  readonly isProtected: boolean;
  readonly network: NetworkSettings;
  readonly coordinator: CoordinatorSettings;
  readonly workers: WorkerSettings;
  readonly fragmentFunction: FunctionSettings;
  readonly spool: SpoolSettings;
  readonly redis: { readonly instance: string };
  readonly logRetention: '1 week' | '1 month';
  readonly alarms: AlarmSettings;
}

export interface NetworkSettings {
  readonly availabilityZones: number;
  /** `managed`: one gateway in each zone. `ec2`: one small instance in each, cheaper, with less bandwidth. */
  readonly nat: 'managed' | 'ec2';
  /** TCP ports that services call outside: catalog, identity provider, object storage. */
  readonly egressPorts: readonly number[];
}

/** What Fargate gives one task. Its memory also holds the rings of the engine hosts, so no size of /dev/shm is asked for. */
export interface TaskSize {
  readonly architecture: 'x86_64' | 'arm64';
  readonly cpu: '1 vCPU' | '2 vCPU' | '4 vCPU' | '8 vCPU';
  readonly memory: `${number} GB`;
  /** Caches, staging, spill and spool files together. */
  readonly storage: `${number} GB`;
  /** `engine.spill_bytes`, `cache.disk_bytes`, `query.max_concurrent` and `query.spool_total_bytes`: they have to fit `storage`. */
  readonly maxConcurrentQueries: number;
  readonly spillGigabytes: number;
  readonly cacheGigabytes: number;
  readonly spoolGigabytes: number;
}

export interface DrainSettings {
  /** `server.drain_timeout_secs`: running queries get it after SIGTERM. */
  readonly drainSeconds: number;
  /** SIGKILL comes this long after SIGTERM; Fargate allows 120 at most. */
  readonly stopSeconds: number;
}

export interface CoordinatorSettings extends TaskSize, DrainSettings {
  readonly listenerPort: number;
  /** Whether the load balancer has public addresses; who may connect is said by SVC_DEPLOY_CLIENT_CIDRS either way. */
  readonly isPublic: boolean;
  /** A call may be silent for `query.timeout_secs` (3,600) before its first row; the load balancer allows 4,000. */
  readonly idleTimeoutSeconds: number;
  /** How long a connection may last before the load balancer asks its client for a new one. */
  readonly clientKeepAliveSeconds: number;
  /** Between leaving the load balancer and SIGTERM: streams that run end in it, new calls go to the next coordinator. */
  readonly deregistrationDelaySeconds: number;
}

export interface WorkerSettings extends TaskSize, DrainSettings {
  readonly min: number;
  /** Eight at most: an answer of Cloud Map's DNS has no more addresses, and by those a coordinator finds its workers. */
  readonly max: number;
  readonly cpuUtilizationPercent: number;
  readonly memoryUtilizationPercent: number;
  readonly scaleOutCooldown: `${number} seconds`;
  readonly scaleInCooldown: `${number} seconds`;
  /** Of ten tasks beyond the first, how many run on spare capacity, which may be taken back at any time. */
  readonly spotShare: number;
}

export interface FunctionSettings {
  /** 1,769 MB are one core; the network gives 75 MiB/s whatever the memory. */
  readonly memoryMegabytes: number;
  /** A split and the one that is fetched beside it lie in /tmp. */
  readonly storageMegabytes: number;
  readonly timeoutSeconds: number;
  /** `lambda.max_concurrency`: bounds the bill. */
  readonly maxConcurrency: number;
  /** Whether as many are kept for this function out of the account's share, and no more are given to it. */
  readonly isReserved: boolean;
}

export interface SpoolSettings {
  /** Below it lies everything that the coordinator may read, write and delete. */
  readonly prefix: `${string}/`;
  /** A query deletes its objects; this is for those of a coordinator that died. S3 counts whole days. */
  readonly expireDays: number;
}

export interface AlarmSettings {
  readonly isEnabled: boolean;
  readonly memoryPercent: number;
  readonly serverErrorsPer5Minutes: number;
  readonly functionErrorsPer5Minutes: number;
  readonly functionThrottlesPer5Minutes: number;
}

/** The same for both kinds of task, and in every stage. In docs/configuration.md. */
export const ports = { flight: 50051, worker: 50052, metrics: 9090, health: 9091, redis: 6379 } as const;

/** The name in the certificate of workers, which have no lasting names of their own. */
export const workerServerName = 'worker';

/** What scripts/bundle-fragment-fn.mjs makes. Lambda's runtime for Node 20 takes no new functions any more. */
export const functionBundle = {
  folder: 'packages/fragment-fn/dist/lambda',
  handler: 'index.handler',
  runtime: 'nodejs22.x',
} as const;

/** Files and the user of infra/docker/Dockerfile. */
export const image = {
  dockerfile: 'infra/docker/Dockerfile',
  user: '10001:10001',
  dataFolder: '/var/lib/svc',
  temporaryFolder: '/tmp',
  program: ['node', 'infra/docker/start.mjs'],
  healthCheck: ['CMD', 'node', 'infra/docker/health-check.mjs'],
} as const;

/** Only x86_64 has been run so far; the function is arm64, which costs a fifth less. */
const taskArchitecture = 'x86_64';

const production: Settings = {
  region: 'eu-central-1',
  isProtected: true,
  network: { availabilityZones: 2, nat: 'managed', egressPorts: [443] },
  coordinator: {
    architecture: taskArchitecture,
    cpu: '4 vCPU',
    memory: '16 GB',
    storage: '120 GB',
    maxConcurrentQueries: 8,
    spillGigabytes: 8,
    cacheGigabytes: 24,
    spoolGigabytes: 16,
    drainSeconds: 110,
    stopSeconds: 120,
    listenerPort: 443,
    isPublic: true,
    idleTimeoutSeconds: 4000,
    clientKeepAliveSeconds: 86_400,
    deregistrationDelaySeconds: 900,
  },
  workers: {
    architecture: taskArchitecture,
    cpu: '4 vCPU',
    memory: '16 GB',
    storage: '100 GB',
    maxConcurrentQueries: 4,
    spillGigabytes: 8,
    cacheGigabytes: 48,
    spoolGigabytes: 8,
    drainSeconds: 110,
    stopSeconds: 120,
    min: 2,
    max: 8,
    cpuUtilizationPercent: 60,
    memoryUtilizationPercent: 75,
    scaleOutCooldown: '60 seconds',
    scaleInCooldown: '600 seconds',
    spotShare: 5,
  },
  fragmentFunction: {
    memoryMegabytes: 1769,
    storageMegabytes: 2048,
    timeoutSeconds: 120,
    maxConcurrency: 256,
    isReserved: true,
  },
  spool: { prefix: 'spool/', expireDays: 1 },
  redis: { instance: 't4g.micro' },
  logRetention: '1 month',
  alarms: {
    isEnabled: true,
    memoryPercent: 85,
    serverErrorsPer5Minutes: 5,
    functionErrorsPer5Minutes: 5,
    functionThrottlesPer5Minutes: 50,
  },
};

/** Any other stage: the same parts, small, and gone when it is removed. */
const trial: Settings = {
  ...production,
  isProtected: false,
  network: { ...production.network, nat: 'ec2' },
  coordinator: {
    ...production.coordinator,
    cpu: '2 vCPU',
    memory: '8 GB',
    storage: '60 GB',
    maxConcurrentQueries: 4,
    cacheGigabytes: 12,
    spoolGigabytes: 8,
    deregistrationDelaySeconds: 120,
  },
  workers: {
    ...production.workers,
    cpu: '2 vCPU',
    memory: '8 GB',
    storage: '60 GB',
    maxConcurrentQueries: 2,
    cacheGigabytes: 24,
    min: 1,
    max: 2,
    spotShare: 10,
  },
  // An account's whole share may be ten functions at first, of which none can be reserved.
  fragmentFunction: { ...production.fragmentFunction, maxConcurrency: 10, isReserved: false },
  logRetention: '1 week',
  alarms: { ...production.alarms, isEnabled: false },
};

export function settingsOf(stage: string): Settings {
  return stage === 'production' ? production : trial;
}

/** What `npm run test:peers -- sessions` tells these tests of the real servers that there are. */

export interface RunningRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What clients must trust, of a server with TLS. */
  readonly certificate: string | undefined;
  stop(): Promise<void>;
  /** At once. */
  kill(): Promise<void>;
}

export interface RedisOptions {
  readonly tls?: boolean;
  readonly password?: string;
  readonly port?: number;
}

interface RedisModule {
  startRedis(folder: string, options?: RedisOptions): Promise<RunningRedis>;
  startRedisCluster(
    folder: string,
    options?: { readonly password?: string },
  ): Promise<{ readonly url: string; readonly nodes: readonly RunningRedis[]; stop(): Promise<void> }>;
}

export interface RunningService {
  readonly host: string;
  readonly flightPort: number;
  readonly metricsPort: number;
  readonly pid: number;
  readonly folder: string;
  /** What was wrong with its end. */
  stop(): Promise<readonly string[]>;
}

interface ServiceModule {
  startService(options: {
    readonly root: string;
    readonly folder: string;
    readonly settings: Readonly<Record<string, string | number | boolean>>;
    readonly user: { readonly username: string; readonly password: string };
  }): Promise<RunningService>;
}

interface SessionServers {
  readonly keycloak: {
    readonly url: string;
    /** Its tokens live 70 s. */
    readonly shortLivedRealm: string;
    readonly shortLivedUsers: readonly { readonly username: string; readonly password: string }[];
    readonly publicClientId: string;
  };
  readonly redisModule: string;
  readonly serviceModule: string;
  readonly root: string;
  readonly folder: string;
  /** For how long the soak goes on. */
  readonly seconds: number;
}

const { SVC_TEST_SESSIONS = '{}' } = process.env;

export const servers: SessionServers = JSON.parse(SVC_TEST_SESSIONS);

export async function redisModule(): Promise<RedisModule> {
  return await import(servers.redisModule);
}

export async function serviceModule(): Promise<ServiceModule> {
  return await import(servers.serviceModule);
}

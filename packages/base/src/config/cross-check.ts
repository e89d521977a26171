import { BlockList, isIP } from 'node:net';
import { checkLambda } from './check-lambda.js';
import { checkPolicy } from './check-policy.js';
import type { Config, ConfigKey } from './registry.js';
import { formatBytes } from './value-types.js';

/** A problem that concerns several keys at once. */
export interface CrossProblem {
  readonly keys: readonly ConfigKey[];
  readonly message: string;
}

/** What no single key can tell: keys that need, exclude or bound each other. */
export function crossCheck(config: Config): readonly CrossProblem[] {
  return [
    ...checkAddress(config),
    ...checkTls(config),
    ...checkWorkers(config),
    ...checkPorts(config),
    ...checkBounds(config),
    ...checkCatalogName(config),
    ...checkStorage(config),
    ...checkSignIn(config),
    ...checkCatalogPlace(config),
    ...checkLambda(config),
    ...checkPolicy(config),
  ];
}

function* checkAddress(config: Config): Iterable<CrossProblem> {
  const address = config['server.bind_address'];
  if (signInMode(config) === 'none' && !isLoopbackAddress(address))
    yield {
      keys: ['server.bind_address', 'auth.idp_url', 'auth.token_endpoint'],
      message: `\`server.bind_address\` is ${address}, but without an identity provider only a loopback address (127.0.0.1, ::1, localhost) is allowed: set \`auth.idp_url\` or \`auth.token_endpoint\` to let others connect`,
    };
}

const certificatesAndKeys = [
  ['server.tls_cert', 'server.tls_key'],
  ['worker.tls_cert', 'worker.tls_key'],
  ['worker.tls_client_cert', 'worker.tls_client_key'],
] as const;

function* checkTls(config: Config): Iterable<CrossProblem> {
  for (const keys of certificatesAndKeys) {
    const [certificate, key] = keys;
    const hasCertificate = config[certificate] !== undefined;
    if (hasCertificate === (config[key] !== undefined)) continue;
    const [given, missing] = hasCertificate ? [certificate, key] : [key, certificate];
    yield { keys, message: `\`${given}\` is set, but \`${missing}\` is not: TLS needs both` };
  }
  if (config['worker.tls_client_ca'] !== undefined && config['worker.tls_cert'] === undefined)
    yield {
      keys: ['worker.tls_client_ca', 'worker.tls_cert'],
      message: '`worker.tls_client_ca` is set, but `worker.tls_cert`, without which there is no TLS, is not',
    };
  for (const key of ['worker.tls_client_cert', 'worker.tls_server_name'] as const)
    if (config[key] !== undefined && config['worker.tls_ca'] === undefined)
      yield {
        keys: [key, 'worker.tls_ca'],
        message: `\`${key}\` is set, but \`worker.tls_ca\`, without which there is no TLS, is not`,
      };
}

const minWorkerSecretBytes = 32;

function* checkWorkers(config: Config): Iterable<CrossProblem> {
  const secret = config['worker.secret'];
  if (secret !== undefined && Buffer.byteLength(secret) < minWorkerSecretBytes)
    yield {
      keys: ['worker.secret'],
      message: `\`worker.secret\` must have at least ${minWorkerSecretBytes} bytes`,
    };
  for (const key of ['worker.addresses', 'worker.discovery_name'] as const)
    if (secret === undefined && (config[key]?.length ?? 0) > 0)
      yield {
        keys: [key, 'worker.secret'],
        message: `\`${key}\` is set, but \`worker.secret\`, by which workers know their coordinators, is not`,
      };
}

function* checkPorts(config: Config): Iterable<CrossProblem> {
  const flight = config['server.flight_enabled'] ? config['server.flight_port'] : 0;
  const metrics = config['metrics.prometheus_port'];
  if (metrics === 65_535)
    yield {
      keys: ['metrics.prometheus_port'],
      message:
        '`metrics.prometheus_port` is 65535, but the probes listen one port above it: use a lower port, or 0 for free ones',
    };
  if (flight !== 0 && metrics !== 0 && (flight === metrics || flight === metrics + 1))
    yield {
      keys: ['server.flight_port', 'metrics.prometheus_port'],
      message: `\`server.flight_port\` is ${flight}, but \`metrics.prometheus_port\` takes ${metrics} for metrics and ${metrics + 1} for probes: use another port`,
    };
}

/** Catalogs that the engine brings: it would not attach another one of the name, or find its own instead. */
const engineCatalogs: ReadonlySet<string> = new Set(['memory', 'system', 'temp']);

function* checkCatalogName(config: Config): Iterable<CrossProblem> {
  const name = config['catalog.name'];
  if (engineCatalogs.has(name))
    yield {
      keys: ['catalog.name'],
      message: `\`catalog.name\` is ${name}, but ${[...engineCatalogs].join(', ')} are catalogs of the engine: use another name`,
    };
}

function* checkCatalogPlace(config: Config): Iterable<CrossProblem> {
  const url = config['catalog.catalog_url'];
  if (url === undefined && config['catalog.warehouse'] !== undefined)
    yield {
      keys: ['catalog.warehouse', 'catalog.catalog_url'],
      message: '`catalog.warehouse` is set, but `catalog.catalog_url`, whose warehouse it names, is not',
    };
  if (url !== undefined && !config['catalog.allow_http'] && isOpenHttp(url))
    yield {
      keys: ['catalog.catalog_url', 'catalog.allow_http'],
      message:
        "`catalog.catalog_url` is not https, so that users' tokens could be read on the way: use https, or set `catalog.allow_http` where the network is trusted",
    };
  if (config['storage.allow_static_credentials'] && config['storage.s3_access_key'] === undefined)
    yield {
      keys: ['storage.allow_static_credentials', 'storage.s3_access_key'],
      message:
        '`storage.allow_static_credentials` is set, but `storage.s3_access_key` is not: there are none',
    };
}

function* checkStorage(config: Config): Iterable<CrossProblem> {
  const hasKey = config['storage.s3_access_key'] !== undefined;
  const keys = ['storage.s3_access_key', 'storage.s3_secret_key'] as const;
  if (hasKey !== (config['storage.s3_secret_key'] !== undefined)) {
    const [given, missing] = hasKey ? keys : [keys[1], keys[0]];
    yield { keys, message: `\`${given}\` is set, but \`${missing}\` is not: they belong together` };
  }
  if (config['storage.s3_session_token'] !== undefined && !hasKey)
    yield {
      keys: ['storage.s3_session_token', ...keys],
      message: '`storage.s3_session_token` is set, but the keys that it belongs to are not',
    };
  if (config['storage.s3_anonymous'] && hasKey)
    yield {
      keys: ['storage.s3_anonymous', ...keys],
      message: '`storage.s3_anonymous` is set, but so are keys: requests are signed or they are not',
    };
}

const bounds = [
  ['query.max_sql_bytes', 'server.max_request_bytes', formatBytes],
  ['query.spool_bytes', 'query.spool_total_bytes', formatBytes],
  ['session.idle_timeout_secs', 'session.max_age_secs', String],
] as const;

function* checkBounds(config: Config): Iterable<CrossProblem> {
  for (const [small, large, format] of bounds) {
    if (config[small] > config[large])
      yield {
        keys: [small, large],
        message: `\`${small}\` is ${format(config[small])}, which is more than \`${large}\` (${format(config[large])})`,
      };
  }
}

function* checkSignIn(config: Config): Iterable<CrossProblem> {
  const mode = signInMode(config);
  const needed = {
    none: [],
    password: ['auth.client_id'],
    client_credentials: ['auth.client_id', 'auth.client_secret'],
  } as const;
  const selector = mode === 'password' ? 'auth.idp_url' : 'auth.token_endpoint';
  for (const key of needed[mode]) {
    if (config[key] === undefined)
      yield { keys: [key, selector], message: `\`${selector}\` is set, but \`${key}\` is not: it is needed` };
  }
  if (mode === 'password' && config['auth.handshake_password'] !== undefined)
    yield {
      keys: ['auth.handshake_password', 'auth.idp_url'],
      message:
        '`auth.handshake_password` is of the client-credentials mode, but `auth.idp_url` selects the password grant: remove one of them',
    };
  if (mode !== 'password' && config['auth.issuer'] !== undefined && config['auth.audience'].length === 0)
    yield {
      keys: ['auth.issuer', 'auth.audience'],
      message:
        '`auth.issuer` is set, but `auth.audience` names none: say for whom its access tokens must be, or leave the issuer away',
    };
  for (const key of ['auth.idp_url', 'auth.token_endpoint', 'auth.issuer'] as const) {
    const value = config[key];
    if (value === undefined || config['auth.allow_http'] || !isOpenHttp(value)) continue;
    yield {
      keys: [key, 'auth.allow_http'],
      message: `\`${key}\` is not https, so that passwords and tokens could be read on the way: use https, or set \`auth.allow_http\` where the network is trusted`,
    };
  }
}

/** Whether what is sent to a URL can be read on the way: http, to an address that is not loopback. */
export function isOpenHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
}

/** Section 5.1 of the specification. Without a provider there is the local user. */
export function signInMode(config: Config): 'password' | 'client_credentials' | 'none' {
  if (config['auth.idp_url'] !== undefined) return 'password';
  return config['auth.token_endpoint'] === undefined ? 'none' : 'client_credentials';
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True if only processes of this machine can reach the address: 127.0.0.0/8, ::1, `localhost`. */
export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family === 0
    ? address.toLowerCase() === 'localhost'
    : loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

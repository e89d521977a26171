import { join } from 'node:path';
import { type DefaultInputs, optional, setting } from './setting.js';
import {
  address,
  addressRange,
  boolean,
  bytes,
  identifier,
  integer,
  list,
  number,
  oneOf,
  path,
  redisUrl,
  seconds,
  secretString,
  string,
  url,
} from './value-types.js';

const GiB = 2 ** 30;
const MiB = 2 ** 20;
const KiB = 2 ** 10;

const port = integer(0, 65_535);

const tracesNotBuilt = 'Exporting traces is not built yet; logs carry the trace and span ids.';

const defaultDataDirectory = '.svc';

function defaultCatalogPath({ given }: DefaultInputs): string {
  const dataDirectory = given('server.data_dir');
  return join(typeof dataDirectory === 'string' ? dataDirectory : defaultDataDirectory, 'warehouse');
}

/** Where the service listens, who may sign in, where tables are, and what is reported. */
export const serviceSettings = {
  'server.bind_address': setting(
    address,
    '127.0.0.1',
    'Address that every listener binds; without an identity provider it must be a loopback address.',
  ),
  'server.flight_enabled': setting(boolean, true, 'Whether the Arrow Flight SQL listener is started.'),
  'server.flight_port': setting(port, 50_051, 'Port of the Arrow Flight SQL listener; 0 takes a free one.'),
  'server.tls_cert': optional(
    path,
    'PEM file with the certificate chain; together with `server.tls_key` it turns TLS on.',
  ),
  'server.tls_key': optional(path, 'PEM file with the private key of `server.tls_cert`.'),
  'server.tls_terminated_upstream': setting(
    boolean,
    false,
    'Declares that a proxy in front ends TLS, so that passwords are accepted over the plain connection from it.',
  ),
  'server.trusted_proxies': setting(
    list(addressRange),
    [],
    'Proxies whose `X-Forwarded-For` names the client, for sign-in limits and the audit log; of others it is not read.',
  ),
  'server.keepalive_time_secs': setting(
    seconds(1),
    60,
    'Silence on a Flight connection after which the server sends a ping.',
  ),
  'server.keepalive_timeout_secs': setting(
    seconds(1),
    20,
    'Time a ping may stay unanswered before the connection is closed and its queries are cancelled.',
  ),
  'server.max_request_bytes': setting(
    bytes(64 * KiB, 1 * GiB),
    16 * MiB,
    'Largest single message that a client may send.',
  ),
  'server.drain_timeout_secs': setting(
    seconds(0, 3600),
    30,
    'Time that running queries get to finish when the service is told to stop.',
  ),
  'server.data_dir': setting(
    path,
    defaultDataDirectory,
    'Folder of the service itself: the local password, caches, staging and spool files.',
  ),

  'catalog.name': setting(identifier, 'lake', 'Name of the catalog in SQL.'),
  'catalog.path': setting(
    path,
    { text: '`warehouse` below `server.data_dir`', compute: defaultCatalogPath },
    'Folder of the file-system catalog.',
  ),
  'catalog.catalog_url': optional(
    url,
    'Address of an Iceberg REST catalog, which is asked as each user; not set: tables live in the folder `catalog.path`.',
  ),
  'catalog.warehouse': optional(string, 'Warehouse name at the REST catalog.'),
  'catalog.allow_http': setting(
    boolean,
    false,
    'Whether the REST catalog may be called without TLS at an address that is not loopback.',
  ),
  'samples.enabled': setting(
    boolean,
    {
      text: '`true`, but `false` once `catalog.path` or `catalog.catalog_url` is set',
      compute: ({ given }) =>
        given('catalog.path') === undefined && given('catalog.catalog_url') === undefined,
    },
    'Whether the first start registers the sample table `samples.flights` in the catalog; a catalog folder of your own is left alone unless this is set.',
  ),
  'storage.s3_endpoint': optional(
    url,
    'Endpoint of the object storage of `s3://` files that `svc sql` names without a server; not set: AWS.',
  ),
  'storage.s3_region': optional(
    string,
    'Region of that storage; not set: what the AWS tools say where their credentials are used, else `us-east-1`.',
  ),
  'storage.s3_access_key': optional(
    secretString,
    'Access key of that storage; not set: the credentials of the AWS tools (variables, profile, container).',
    { secret: true },
  ),
  'storage.s3_secret_key': optional(secretString, 'Secret key of `storage.s3_access_key`.', { secret: true }),
  'storage.s3_session_token': optional(
    secretString,
    'Session token of `storage.s3_access_key`, when that is a temporary one.',
    { secret: true },
  ),
  'storage.s3_path_style': setting(
    boolean,
    {
      text: '`true` once `storage.s3_endpoint` is set, else `false`',
      compute: (inputs) => inputs.given('storage.s3_endpoint') !== undefined,
    },
    'Whether buckets are part of the path of that storage, and not of its host name.',
  ),
  'storage.allow_static_credentials': setting(
    boolean,
    false,
    'Whether files of tables for which the REST catalog gives out no credentials are read with `storage.s3_access_key`, for every user whom the catalog lets load the table: only those below its location, and none is written.',
  ),
  'storage.s3_anonymous': setting(
    boolean,
    false,
    'Whether requests to that storage are sent unsigned, as for public buckets.',
  ),
  'coordinator.session_context_cache_ttl_secs': setting(
    seconds(0, 86_400),
    {
      text: '`0`, but `30` once `catalog.catalog_url` is set',
      compute: ({ given }) => (given('catalog.catalog_url') === undefined ? 0 : 30),
    },
    'How long what a catalog told a user is used again for the same user without asking; 0 asks for every statement. Statements that change something ask in any case, and changes through this coordinator are seen at once.',
  ),
  'coordinator.redis_url': optional(
    redisUrl,
    'Redis that keeps several coordinators from renewing tokens at the same time; not set: there is one coordinator. Certificates are checked as Node does (`NODE_EXTRA_CA_CERTS`).',
    { secret: true },
  ),

  'metrics.prometheus_port': setting(
    port,
    9090,
    'Port of `GET /metrics`; probes, status and the admin endpoint listen one above it. With 0 both take a free port.',
  ),
  'metrics.web_ui': setting(boolean, false, 'Whether the dashboard and its read API are served.', {
    environment: false,
    notBuilt: 'The web dashboard is not built yet.',
  }),
  'metrics.traces_otlp_endpoint': optional(url, 'OTLP/gRPC endpoint that receives traces only.', {
    notBuilt: tracesNotBuilt,
  }),
  'metrics.trace_sample_rate': optional(number(0, 1), 'Fraction of traces that are sampled.', {
    notBuilt: tracesNotBuilt,
  }),
  'metrics.otlp_endpoint': optional(url, 'OTLP/gRPC endpoint that receives traces, metrics and logs.', {
    notBuilt: 'Exporting over OTLP is not built yet; metrics are at `/metrics`, logs on stdout.',
  }),
  'metrics.audit_log_path': optional(
    path,
    'File that receives one JSON line per query; not set: no audit log. It is opened again on SIGHUP.',
  ),
  'audit.on_failure': setting(
    oneOf('refuse', 'count'),
    'refuse',
    'While the audit log cannot be written: refuse queries, or only count what is lost.',
  ),
} as const;

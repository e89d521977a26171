import { optional, setting } from './setting.js';
import {
  address,
  boolean,
  hostAndPort,
  integer,
  list,
  path,
  seconds,
  secretString,
  string,
} from './value-types.js';

const defaultAddress = '127.0.0.1';

/** `svc worker`, and how a coordinator finds its workers. */
export const workerSettings = {
  'worker.secret': optional(
    secretString,
    'Secret of at least 32 bytes by which workers know their coordinators and coordinators their workers; the same for all of them, and nobody else.',
    { secret: true },
  ),
  'worker.port': setting(integer(0, 65_535), 50_052, 'Port of `svc worker`; 0 takes a free one.'),
  'worker.bind_address': setting(
    address,
    {
      text: '`server.bind_address`',
      compute: ({ given }) => {
        const bound = given('server.bind_address');
        return typeof bound === 'string' ? bound : defaultAddress;
      },
    },
    'Address that `svc worker` binds, its probes and metrics too.',
  ),
  'worker.tls_cert': optional(
    path,
    'PEM file with the certificate chain of `svc worker`; together with `worker.tls_key` it turns TLS on. Without it the credentials of tables can be read on the way.',
  ),
  'worker.tls_key': optional(path, 'PEM file with the private key of `worker.tls_cert`.'),
  'worker.tls_client_ca': optional(
    path,
    'PEM file with certificates of authorities: `svc worker` then serves only coordinators that show a certificate of one of them.',
  ),
  'worker.allow_local_files': setting(
    boolean,
    false,
    'Whether `svc worker` reads tables in folders; only for workers that have the same disk as their coordinator.',
  ),
  'worker.addresses': setting(list(hostAndPort), [], 'Workers of this coordinator, each as `host:port`.'),
  'worker.discovery_name': optional(
    hostAndPort,
    'DNS name and port, as `name:port`: each address (A, AAAA) of the name is a worker of this coordinator.',
  ),
  'worker.discovery_interval_secs': setting(
    seconds(1, 3600),
    15,
    'Time after which `worker.discovery_name` is resolved again.',
  ),
  'worker.heartbeat_interval_secs': setting(
    seconds(0.1, 300),
    5,
    'Time between two looks of a coordinator at each worker; two without an answer make it unhealthy.',
  ),
  'worker.stall_timeout_secs': setting(
    seconds(15, 3600),
    30,
    'Time after which a worker that says nothing of a task is given up, and the task sent elsewhere.',
  ),
  'worker.tls_ca': optional(
    path,
    'PEM file with certificates of authorities that the certificates of workers are checked by; it makes the coordinator speak TLS with them.',
  ),
  'worker.tls_server_name': optional(
    string,
    'Name that the certificates of workers have; not set: their host, or the name in `worker.discovery_name`.',
  ),
  'worker.tls_client_cert': optional(
    path,
    'PEM file with the certificate that the coordinator shows to workers; together with `worker.tls_client_key`.',
  ),
  'worker.tls_client_key': optional(path, 'PEM file with the private key of `worker.tls_client_cert`.'),
} as const;

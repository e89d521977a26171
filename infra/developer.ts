import type { FragmentFunction } from './fragment-function';
import type { Secrets } from './secrets';
import { ports, type Settings } from './settings';
import type { Spool } from './spool';

/**
 * `sst dev`: the real function and spool bucket, and on this machine a coordinator and a worker with the developer's own
 * credentials. There is no VPC, load balancer or Redis: nothing here would reach them.
 */
export function runOnThisMachine(
  secrets: Secrets,
  spool: Spool,
  fragmentFunction: FragmentFunction,
  { region, fragmentFunction: { maxConcurrency } }: Settings,
): void {
  new sst.x.DevCommand('CoordinatorHere', {
    dev: { title: 'coordinator', command: 'npm start' },
    environment: {
      SVC_WORKER__ADDRESSES: `127.0.0.1:${ports.worker}`,
      SVC_WORKER__SECRET: secrets.workerSecret,
      SVC_LAMBDA__FUNCTION_NAME: fragmentFunction.name,
      SVC_LAMBDA__REGION: region,
      SVC_LAMBDA__PUBLIC_KEY: secrets.functionPublicKey,
      SVC_FRAGMENTS__SPOOL_LOCATION: spool.location,
      SVC_FRAGMENTS__SPOOL_REGION: region,
      SVC_LAMBDA__MAX_CONCURRENCY: String(maxConcurrency),
    },
  });
  new sst.x.DevCommand('WorkerHere', {
    dev: { title: 'worker', command: 'node packages/cli/dist/bundle/main.mjs worker' },
    environment: {
      SVC_WORKER__PORT: String(ports.worker),
      SVC_WORKER__SECRET: secrets.workerSecret,
      SVC_SERVER__DATA_DIR: '.svc/worker',
      // Beside the coordinator's.
      SVC_METRICS__PROMETHEUS_PORT: String(ports.metrics + 10),
    },
  });
}

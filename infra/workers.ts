import type { Network } from './network';
import { type Secrets, storeTaskSecrets } from './secrets';
import type { SecurityGroups } from './security-groups';
import { ports, type Settings } from './settings';
import { type TaskOptions, taskArguments, taskTransforms } from './task';

export interface Workers {
  readonly service: sst.aws.Service;
  /** `worker.discovery_name`: its DNS name answers with the address of each task. */
  readonly discoveryName: $util.Output<string>;
}

/** Workers, as many as their load needs. They have no permission at all: what a split may read comes with it. */
export function createWorkers(
  settings: Settings,
  network: Network,
  groups: SecurityGroups,
  secrets: Secrets,
): Workers {
  const { workers } = settings;
  const options: TaskOptions = {
    size: workers,
    servicePort: ports.worker,
    command: 'worker',
    secrets: storeTaskSecrets('Worker', {
      SVC_WORKER__SECRET: secrets.workerSecret,
      DEPLOY_FILE_SVC_WORKER__TLS_CERT: secrets.workerCertificate,
      DEPLOY_FILE_SVC_WORKER__TLS_KEY: secrets.workerCertificateKey,
    }),
    // Not `server.bind_address`: without an identity provider that must be a loopback address.
    environment: { SVC_WORKER__PORT: String(ports.worker), SVC_WORKER__BIND_ADDRESS: '0.0.0.0' },
    permissions: [],
  };
  const service = new sst.aws.Service('Worker', {
    cluster: network.cluster,
    ...taskArguments(options),
    scaling: {
      min: workers.min,
      max: workers.max,
      cpuUtilization: workers.cpuUtilizationPercent,
      memoryUtilization: workers.memoryUtilizationPercent,
      scaleOutCooldown: workers.scaleOutCooldown,
      scaleInCooldown: workers.scaleInCooldown,
    },
    capacity: {
      fargate: { base: 1, weight: 10 - workers.spotShare },
      spot: { weight: workers.spotShare },
    },
    wait: true,
    transform: {
      ...taskTransforms(options),
      service: (args, resource) => {
        // How many there are is said by the scaling, also while a deployment runs.
        resource.ignoreChanges = ['desiredCount'];
        args.deploymentMinimumHealthyPercent = 100;
        args.deploymentMaximumPercent = 200;
        args.enableExecuteCommand = false;
        args.networkConfiguration = {
          assignPublicIp: false,
          subnets: network.vpc.privateSubnets,
          securityGroups: [groups.worker.id],
        };
      },
    },
  });
  return { service, discoveryName: $interpolate`${service.service}:${ports.worker}` };
}

import type { Network } from './network';
import { type Secrets, storeTaskSecrets } from './secrets';
import type { SecurityGroups } from './security-groups';
import { ports, type Settings } from './settings';
import { type TaskOptions, taskArguments, taskTransforms } from './task';

export interface WorkerPools {
  readonly services: readonly sst.aws.Service[];
  /** DNS names; each answers with the addresses of its tasks. */
  readonly names: readonly $util.Output<string>[];
}

/** Pools of workers, which scale with their load. They have no permission at all: what a split may read comes with it. */
export function createWorkers(
  settings: Settings,
  network: Network,
  groups: SecurityGroups,
  secrets: Secrets,
): WorkerPools {
  const { workers } = settings;
  const options: TaskOptions = {
    size: workers,
    servicePort: ports.worker,
    command: 'worker',
    secrets: storeTaskSecrets('Worker', { SVC_WORKER__SECRET: secrets.workerSecret }),
    environment: { SVC_WORKER__PORT: String(ports.worker) },
    permissions: [],
  };
  const services = Array.from(
    { length: workers.pools },
    (_, index) =>
      new sst.aws.Service(`Worker${index + 1}`, {
        cluster: network.cluster,
        ...taskArguments(options),
        scaling: {
          min: workers.minPerPool,
          max: workers.maxPerPool,
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
      }),
  );
  return { services, names: services.map((service) => service.service) };
}

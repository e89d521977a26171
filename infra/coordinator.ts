import type { FragmentFunction } from './fragment-function';
import type { Given } from './given';
import type { Network } from './network';
import type { Secrets } from './secrets';
import { storeTaskSecrets } from './secrets';
import type { SecurityGroups } from './security-groups';
import { ports, type Settings, workerServerName } from './settings';
import type { Spool } from './spool';
import { type TaskOptions, taskArguments, taskTransforms } from './task';

export interface CoordinatorParts {
  readonly settings: Settings;
  readonly given: Given;
  readonly network: Network;
  readonly groups: SecurityGroups;
  readonly secrets: Secrets;
  readonly spool: Spool;
  readonly fragmentFunction: FragmentFunction;
  readonly redisUrl: $util.Output<string>;
  /** `worker.discovery_name`. */
  readonly discoveryName: $util.Output<string>;
}

/** What a call of no service is answered: the coordinator's Flight listener is open, and speaks gRPC. */
const unimplemented = '12';
const target = `${ports.flight}/http` as const;

/**
 * One task: sessions are in its memory. A deployment starts the next one beside it, moves the load balancer's target,
 * lets streams end for the deregistration delay, and then drains and stops the old one.
 */
export function createCoordinator(parts: CoordinatorParts): sst.aws.Service {
  const { settings, given, network, groups } = parts;
  const { coordinator } = settings;
  const options = taskOptions(parts);
  return new sst.aws.Service('Coordinator', {
    cluster: network.cluster,
    ...taskArguments(options),
    scaling: { min: 1, max: 1, cpuUtilization: false, memoryUtilization: false },
    wait: true,
    loadBalancer: {
      public: coordinator.isPublic,
      domain: {
        name: given.domain,
        ...(given.certificateArn === undefined ? {} : { dns: false, cert: given.certificateArn }),
      },
      rules: [{ listen: `${coordinator.listenerPort}/https`, forward: target }],
      health: {
        [target]: {
          path: '/AWS.ALB/healthcheck',
          successCodes: unimplemented,
          interval: '10 seconds',
          timeout: '5 seconds',
          healthyThreshold: 2,
          unhealthyThreshold: 3,
        },
      },
    },
    transform: {
      ...taskTransforms(options),
      target: (args) => {
        args.protocolVersion = 'GRPC';
        args.deregistrationDelay = coordinator.deregistrationDelaySeconds;
      },
      listener: (args) => {
        args.sslPolicy = 'ELBSecurityPolicy-TLS13-1-2-2021-06';
      },
      // Ours has the rules; sst's own is left without any.
      loadBalancerSecurityGroup: (args) => {
        args.ingress = [];
        args.egress = [];
      },
      loadBalancer: (args) => {
        args.securityGroups = [groups.loadBalancer.id];
        args.idleTimeout = coordinator.idleTimeoutSeconds;
        args.clientKeepAlive = coordinator.clientKeepAliveSeconds;
        args.dropInvalidHeaderFields = true;
        args.enableDeletionProtection = settings.isProtected;
      },
      service: (args) => {
        args.deploymentMinimumHealthyPercent = 100;
        args.deploymentMaximumPercent = 200;
        args.healthCheckGracePeriodSeconds = 60;
        args.enableExecuteCommand = false;
        args.networkConfiguration = {
          assignPublicIp: false,
          subnets: network.vpc.privateSubnets,
          securityGroups: [groups.coordinator.id],
        };
      },
    },
  });
}

function taskOptions(parts: CoordinatorParts): TaskOptions {
  const { settings, given, network, secrets, spool, fragmentFunction } = parts;
  return {
    size: settings.coordinator,
    servicePort: ports.flight,
    command: 'serve',
    secrets: storeTaskSecrets('Coordinator', {
      SVC_WORKER__SECRET: secrets.workerSecret,
      DEPLOY_FILE_SVC_WORKER__TLS_CA: secrets.workerCertificate,
      SVC_AUTH__CLIENT_SECRET: secrets.oidcClientSecret,
      SVC_COORDINATOR__REDIS_URL: parts.redisUrl,
    }),
    environment: {
      ...given.serviceKeys,
      SVC_SERVER__BIND_ADDRESS: '0.0.0.0',
      SVC_SERVER__FLIGHT_PORT: String(ports.flight),
      // The load balancer has the certificate, and is the only one who is let in.
      SVC_SERVER__TLS_TERMINATED_UPSTREAM: 'true',
      SVC_SERVER__TRUSTED_PROXIES: network.vpc.nodes.publicSubnets.apply((subnets) =>
        $util.all(subnets.map((subnet) => subnet.cidrBlock)).apply((ranges) => ranges.join(',')),
      ),
      SVC_WORKER__DISCOVERY_NAME: parts.discoveryName,
      SVC_WORKER__TLS_SERVER_NAME: workerServerName,
      SVC_LAMBDA__FUNCTION_NAME: fragmentFunction.name,
      SVC_LAMBDA__REGION: settings.region,
      SVC_LAMBDA__PUBLIC_KEY: secrets.functionPublicKey,
      SVC_LAMBDA__MAX_CONCURRENCY: String(settings.fragmentFunction.maxConcurrency),
      // The function's own limit comes first, and says more.
      SVC_LAMBDA__INVOCATION_TIMEOUT_SECS: String(settings.fragmentFunction.timeoutSeconds + 15),
      SVC_FRAGMENTS__SPOOL_LOCATION: spool.location,
      SVC_FRAGMENTS__SPOOL_REGION: settings.region,
    },
    permissions: coordinatorPermissions(fragmentFunction, spool),
  };
}

/** Streaming invocations ask for the same permission as others. */
export function coordinatorPermissions(fragmentFunction: FragmentFunction, spool: Spool) {
  return [
    { actions: ['lambda:InvokeFunction'], resources: [fragmentFunction.arn] },
    { actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], resources: [spool.objects] },
  ];
}

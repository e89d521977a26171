import type { TaskSecrets } from './secrets';
import { type DrainSettings, image, ports, type TaskSize } from './settings';

type TaskDefinitionArgs = aws.ecs.TaskDefinitionArgs;
type Transform = NonNullable<sst.aws.ServiceArgs['transform']>;

/** What both kinds of task have in common: image, sizes, limits, roles, what of the container may be written. */
export interface TaskOptions {
  readonly size: TaskSize & DrainSettings;
  readonly servicePort: number;
  readonly command: 'serve' | 'worker';
  readonly secrets: TaskSecrets;
  readonly environment: Readonly<Record<string, $util.Input<string>>>;
  /** All that the processes may ask AWS for. Their logs are written by the platform. */
  readonly permissions: readonly aws.types.input.iam.GetPolicyDocumentStatementArgs[];
}

const volumes = { data: image.dataFolder, tmp: image.temporaryFolder } as const;
const gibibyte = 2 ** 30;

export function taskArguments(options: TaskOptions) {
  const { size, secrets } = options;
  return {
    architecture: size.architecture,
    cpu: size.cpu,
    memory: size.memory,
    storage: size.storage,
    image: { context: '.', dockerfile: image.dockerfile },
    command: [...image.program, options.command],
    environment: {
      RUST_LOG: 'info',
      SVC_SERVER__DATA_DIR: image.dataFolder,
      SVC_SERVER__DRAIN_TIMEOUT_SECS: String(size.drainSeconds),
      SVC_METRICS__PROMETHEUS_PORT: String(ports.metrics),
      SVC_QUERY__MAX_CONCURRENT: String(size.maxConcurrentQueries),
      SVC_QUERY__SPOOL_TOTAL_BYTES: String(size.spoolGigabytes * gibibyte),
      SVC_ENGINE__SPILL_BYTES: String(size.spillGigabytes * gibibyte),
      SVC_CACHE__DISK_BYTES: String(size.cacheGigabytes * gibibyte),
      // No key of the service: it makes a task definition with new secrets another one.
      DEPLOY_SECRETS_VERSION: secrets.version,
      ...options.environment,
    },
    ssm: secrets.arns,
    health: {
      command: [...image.healthCheck],
      startPeriod: '60 seconds',
      interval: '15 seconds',
      timeout: '5 seconds',
      retries: 4,
    },
  } satisfies Partial<sst.aws.ServiceArgs>;
}

export function taskTransforms(
  options: TaskOptions,
): Pick<Transform, 'taskDefinition' | 'taskRole' | 'executionRole'> {
  return {
    taskDefinition: (args) => hardenTask(args, options),
    taskRole: (args) => {
      // sst would add the channels of `ecs execute-command`, by which a person gets into a container.
      args.inlinePolicies =
        options.permissions.length === 0 ? [] : [inlinePolicy('task', [...options.permissions])];
    },
    executionRole: (args) => {
      // sst would let it read every parameter and secret of the account.
      args.inlinePolicies = [
        inlinePolicy('secrets', [
          { actions: ['ssm:GetParameters'], resources: Object.values(options.secrets.arns) },
        ]),
      ];
    },
  };
}

function inlinePolicy(name: string, statements: aws.types.input.iam.GetPolicyDocumentStatementArgs[]) {
  return { name, policy: aws.iam.getPolicyDocumentOutput({ statements }).json };
}

/** The root file system cannot be written; the two folders that can are volumes, which take the owner the image gives them. */
function hardenTask(args: TaskDefinitionArgs, options: TaskOptions): undefined {
  args.volumes = Object.keys(volumes).map((name) => ({ name }));
  args.containerDefinitions = $util.output(args.containerDefinitions).apply((text) => {
    const definitions: readonly object[] = JSON.parse(text);
    return JSON.stringify(definitions.map((definition) => ({ ...definition, ...hardened(options) })));
  });
}

function hardened({ size, servicePort }: TaskOptions): object {
  return {
    user: image.user,
    readonlyRootFilesystem: true,
    pseudoTerminal: false,
    // An init process reaps engine hosts whose parent died; no capability is needed for anything.
    linuxParameters: { initProcessEnabled: true, capabilities: { drop: ['ALL'] } },
    portMappings: [servicePort, ports.metrics, ports.health].map((containerPort) => ({
      containerPort,
      protocol: 'tcp',
    })),
    mountPoints: Object.entries(volumes).map(([sourceVolume, containerPath]) => ({
      sourceVolume,
      containerPath,
    })),
    stopTimeout: size.stopSeconds,
    ulimits: [{ name: 'nofile', softLimit: 65_536, hardLimit: 65_536 }],
  };
}

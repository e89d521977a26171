import { assertFunctionBundle } from './function-bundle';
import { functionBundle, type Settings } from './settings';

export interface FragmentFunction {
  readonly name: $util.Output<string>;
  readonly arn: $util.Output<string>;
}

/**
 * Runs splits of queries. Its role may write its own log and nothing else: what a split may read travels with it,
 * encrypted to the key that is here. It has no URL and is in no VPC: the coordinator invokes it by name.
 */
export function createFragmentFunction(settings: Settings, keys: $util.Output<string>): FragmentFunction {
  const size = settings.fragmentFunction;
  assertFunctionBundle(`${$cli.paths.root}/${functionBundle.folder}`, functionBundle.handler);
  const log = new aws.cloudwatch.LogGroup('FragmentLog', {
    retentionInDays: settings.logRetention === '1 week' ? 7 : 30,
  });
  const created = new sst.aws.Function('Fragment', {
    description: 'Runs splits of queries over what they bring with them.',
    runtime: functionBundle.runtime,
    architecture: 'arm64',
    // The handler streams; whether its answer is read as a stream is up to the call.
    streaming: true,
    bundle: functionBundle.folder,
    handler: functionBundle.handler,
    memory: `${size.memoryMegabytes} MB`,
    storage: `${size.storageMegabytes} MB`,
    timeout: `${size.timeoutSeconds} seconds`,
    ...(size.isReserved ? { concurrency: { reserved: size.maxConcurrency } } : {}),
    logging: { logGroup: log.name, format: 'json' },
    environment: { SVC_FUNCTION_KEYS: keys },
    // An emulated function would be x86_64, and without the engine: `sst dev` uses the real one as well.
    dev: false,
    transform: {
      role: (args) => {
        // sst would let every identity of the account assume it, as `sst dev` needs for functions that it emulates.
        args.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: 'lambda.amazonaws.com' });
        args.managedPolicyArns = [];
        args.inlinePolicies = [
          {
            name: 'log',
            policy: aws.iam.getPolicyDocumentOutput({
              statements: [
                {
                  actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
                  resources: [$interpolate`${log.arn}:*`],
                },
              ],
            }).json,
          },
        ];
      },
    },
  });
  return { name: created.name, arn: created.arn };
}

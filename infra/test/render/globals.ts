import * as aws from '@pulumi/aws';
import * as pulumi from '@pulumi/pulumi';

export interface GlobalOptions {
  readonly stage: string;
  readonly isDev: boolean;
  readonly root: string;
  /** For what components write: archives. */
  readonly work: string;
}

/** What the sst program puts in front of a configuration. The components are loaded after it: they read it as they load. */
export async function installGlobals({ stage, isDev, root, work }: GlobalOptions): Promise<void> {
  const resolve = (value: pulumi.Input<unknown>) => pulumi.all(value as never);
  Object.assign(globalThis, {
    $config: (config: unknown) => config,
    $app: { name: 'svc', stage, removal: 'remove', protect: false, providers: {} },
    $dev: isDev,
    $cli: {
      command: isDev ? 'dev' : 'deploy',
      rpc: '',
      paths: { home: work, root, work, platform: `${root}/.sst/platform` },
      state: { version: {} },
    },
    $util: pulumi,
    $output: pulumi.output,
    $resolve: resolve,
    $interpolate: pulumi.interpolate,
    $concat: pulumi.concat,
    $jsonParse: pulumi.jsonParse,
    $jsonStringify: pulumi.jsonStringify,
    aws,
  });
  const [components, { $asset, $transform }, { Link }] = await Promise.all([
    import('../../../.sst/platform/src/components/index'),
    import('../../../.sst/platform/src/components/component'),
    import('../../../.sst/platform/src/components/link'),
  ]);
  Object.assign(globalThis, { sst: components, $asset, $transform, $linkable: Link.linkable });
}

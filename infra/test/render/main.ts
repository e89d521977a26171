/** Runs sst.config.ts against mocks, and writes what it would make: `main.mjs <stage> <deploy|dev> <file>`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { functionBundle } from '../../settings';
import { writeFakeBundle } from './fake-bundle';
import { installGlobals } from './globals';
import { mockProvider } from './mocks';
import type { Rendering, Resource } from './resource';
import { startRpcStub } from './rpc-stub';

const [stage = '', mode = '', file = ''] = process.argv.slice(2);
// A tree of its own: the components look for the function's bundle in it, and write beside the Dockerfile.
const root = join(dirname(file), `tree-${stage}-${mode}`);
const work = join(root, '.sst');
mkdirSync(work, { recursive: true });
writeFakeBundle(join(root, functionBundle.folder));
process.chdir(root);
const { url, server } = await startRpcStub();
process.env.SST_SERVER = url;
const resources = await mockProvider(stage);
await installGlobals({ stage, isDev: mode === 'dev', root, work });
const { default: config } = await import('../../../sst.config');
const app = await config.app({ stage });
const outputs = (await config.run()) ?? {};
const known = await new Promise<Record<string, unknown>>((resolve) => {
  pulumi.output(outputs).apply((values) => {
    resolve(values as Record<string, unknown>);
  });
});
await pulumi.runtime.disconnect();
server.close();
const rendering: Rendering = {
  stage,
  isDev: mode === 'dev',
  app: { ...app },
  outputs: known,
  resources: resources.toSorted((a, b) => orderOf(a).localeCompare(orderOf(b))),
};
writeFileSync(file, `${JSON.stringify(rendering, undefined, 2)}\n`);

function orderOf({ type, name }: Resource): string {
  return `${type} ${name}`;
}

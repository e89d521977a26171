import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { environmentName, settingsByKey } from '../../packages/base/dist/config/registry.js';
import { loadConfig } from '../../packages/base/dist/index.js';
import { containerOf, environmentOf, production, trial } from './renderings';

const names = new Set([...settingsByKey.keys()].map(environmentName));
const sections = new Set([...names].map(sectionOf));

/** What the platform would start the task with. Files are what infra/docker/start.mjs makes of their texts. */
function variablesOf(rendering: typeof production, task: string): Readonly<Record<string, string>> {
  const secrets = containerOf(rendering, task).secrets.map(({ name }: { readonly name: string }) =>
    name.startsWith('DEPLOY_FILE_')
      ? [name.slice('DEPLOY_FILE_'.length), '/tmp/file.pem']
      : [
          name,
          name.includes('REDIS')
            ? 'rediss://default:password@redis.example:6379'
            : 'secret-of-32-bytes-0123456789abcdef',
        ],
  );
  return { ...environmentOf(rendering, task), ...Object.fromEntries(secrets) };
}

for (const rendering of [production, trial])
  for (const task of ['CoordinatorTask', 'WorkerTask'])
    describe(`configuration of ${task} of ${rendering.stage}`, () => {
      it('names keys that the service knows', () => {
        const given = Object.keys(variablesOf(rendering, task)).filter((name) => name.startsWith('SVC_'));
        // A section of which this build knows no key is one of a part that it was built without.
        const unknown = given.filter((name) => sections.has(sectionOf(name)) && !names.has(name));
        assert.deepEqual(unknown, []);
      });

      it('is valid', () => {
        const environment = Object.fromEntries(
          Object.entries(variablesOf(rendering, task)).filter(
            ([name]) => !name.startsWith('SVC_') || sections.has(sectionOf(name)),
          ),
        );
        const machine = { cores: 4, memoryBytes: 16 * 2 ** 30 };
        assert.equal(typeof loadConfig({ environment, machine })['server.drain_timeout_secs'], 'number');
      });
    });

function sectionOf(name: string): string {
  return name.split('__')[0] ?? name;
}

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { functionBundle, image, ports } from '../settings';
import { type BuildStage, parseDockerfile } from './dockerfile';

const read = (file: string) => readFileSync(`infra/docker/${file}`, 'utf8');
const stages = parseDockerfile(read('Dockerfile'));
const final = stages.at(-1) as BuildStage;

function texts(stage: BuildStage, name: string): readonly string[] {
  return stage.instructions.filter((each) => each.name === name).map((each) => each.text);
}

describe('the image', () => {
  it('begins from one official image by its exact version, in every stage', () => {
    for (const { base } of stages) assert.match(base, /^node:\d+\.\d+\.\d+-[a-z]+-slim$/);
    assert.equal(new Set(stages.map(({ base }) => base)).size, 1);
    const major = /nodejs(\d+)\.x/.exec(functionBundle.runtime)?.[1];
    assert.ok(final.base.startsWith(`node:${major}.`), 'as the function runs');
  });

  it('takes nothing from addresses, and nothing as root at run time', () => {
    for (const stage of stages) {
      assert.deepEqual(texts(stage, 'ADD'), []);
      for (const name of ['RUN', 'COPY'])
        for (const text of texts(stage, name)) assert.doesNotMatch(text, /https?:|curl|wget|apt-get/);
    }
    assert.deepEqual(texts(final, 'USER'), [image.user]);
    assert.match(image.user, /^[1-9]\d{3,}:[1-9]\d{3,}$/);
    assert.deepEqual(texts(final, 'RUN'), [], 'the last stage only copies');
  });

  it('has the packages that run, of the target’s platform, and proves their native parts', () => {
    const [install = ''] = texts(stages.find(({ name }) => name === 'dependencies') ?? final, 'RUN');
    assert.match(install, /npm ci --omit=dev --ignore-scripts --os=linux --cpu="\$cpu" --libc=glibc/);
    assert.match(install, /test -s "node_modules\/@duckdb\/node-bindings-linux-\$cpu\/libduckdb\.so"/);
    assert.match(install, /test -s "node_modules\/@koromix\/koffi-linux-\$cpu\/linux_\$cpu\/koffi\.node"/);
    for (const text of texts(final, 'COPY').filter((each) => each.includes('--from=build')))
      assert.doesNotMatch(text, /node_modules/);
  });

  it('has the volumes, ports and commands that the deployment counts on', () => {
    assert.deepEqual(texts(final, 'VOLUME'), [
      JSON.stringify([image.dataFolder, image.temporaryFolder]).replace(',', ', '),
    ]);
    assert.ok(
      texts(final, 'COPY').some(
        (text) => text.includes(`--chown=${image.user}`) && text.endsWith(image.dataFolder),
      ),
    );
    assert.deepEqual(texts(final, 'EXPOSE'), [
      `${ports.flight} ${ports.worker} ${ports.metrics} ${ports.health}`,
    ]);
    assert.deepEqual(JSON.parse(texts(final, 'CMD')[0] ?? ''), [...image.program, 'serve']);
    const [, check = ''] = (texts(final, 'HEALTHCHECK')[0] ?? '').split(' CMD ');
    assert.deepEqual(['CMD', ...JSON.parse(check)], image.healthCheck);
    assert.deepEqual(texts(final, 'STOPSIGNAL'), ['SIGTERM']);
  });

  it('has no secret in its layers', () => {
    for (const stage of stages)
      for (const name of ['ENV', 'ARG'])
        for (const text of texts(stage, name)) assert.doesNotMatch(text, /SECRET|KEY|TOKEN|PASSWORD/);
  });

  it('names files that are there', () => {
    for (const file of ['start.mjs', 'health-check.mjs']) assert.ok(existsSync(`infra/docker/${file}`), file);
    assert.equal(image.dockerfile, 'infra/docker/Dockerfile');
  });

  it('is built from what is listed, so that sst has nothing to add', () => {
    const lines = read('Dockerfile.dockerignore').split('\n');
    assert.ok(lines.includes('*') && lines.includes('.sst') && lines.includes('**/node_modules'));
    for (const line of lines) assert.doesNotMatch(line, /^!.*(\.env|svc\.toml|\.git)/);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'), { merge: true });

  for (const name of ['coordinator', 'worker'])
    it(`runs the ${name} as strictly as the deployment`, () => {
      const service = services[name];
      assert.equal(service.user, image.user);
      assert.equal(service.read_only, true);
      assert.deepEqual(service.cap_drop, ['ALL']);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
      assert.match(service.shm_size, /^\d+m$/);
      assert.equal(service.privileged, undefined);
      const writable = service.volumes
        .map((text: string) => text.split(':'))
        .filter((parts: string[]) => parts[2] !== 'ro');
      assert.deepEqual(
        writable.map((parts: string[]) => parts.at(-1)),
        [image.dataFolder, image.temporaryFolder],
      );
      assert.deepEqual(service.command.slice(0, 2), image.program);
      const drain = Number(service.environment.SVC_SERVER__DRAIN_TIMEOUT_SECS);
      assert.ok(Number.parseInt(service.stop_grace_period, 10) > drain);
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:50051:/);
    });
});

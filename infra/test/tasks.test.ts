import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ports, settingsOf } from '../settings';
import { containerOf, environmentOf, ofType, production, resource, trial } from './renderings';

const tasks = [
  {
    task: 'CoordinatorTask',
    command: 'serve',
    port: ports.flight,
    secrets: [
      'SVC_WORKER__SECRET',
      'DEPLOY_FILE_SVC_WORKER__TLS_CA',
      'SVC_AUTH__CLIENT_SECRET',
      'SVC_COORDINATOR__REDIS_URL',
    ],
  },
  {
    task: 'WorkerTask',
    command: 'worker',
    port: ports.worker,
    secrets: ['SVC_WORKER__SECRET', 'DEPLOY_FILE_SVC_WORKER__TLS_CERT', 'DEPLOY_FILE_SVC_WORKER__TLS_KEY'],
  },
] as const;

for (const rendering of [production, trial])
  for (const { task, command, port, secrets } of tasks) {
    const { coordinator, workers } = settingsOf(rendering.stage);
    const size = command === 'serve' ? coordinator : workers;
    describe(`${task} of ${rendering.stage}`, () => {
      it('runs as a user without rights, on a root file system that cannot be written', () => {
        const container = containerOf(rendering, task);
        assert.equal(container.user, '10001:10001');
        assert.equal(container.readonlyRootFilesystem, true);
        assert.deepEqual(container.linuxParameters.capabilities, { drop: ['ALL'] });
        assert.equal(container.linuxParameters.initProcessEnabled, true);
        assert.equal(container.privileged, undefined);
        // Fargate refuses it; the rings of the engine hosts are memory of their own (docs/deploy.md).
        assert.equal(container.linuxParameters.sharedMemorySize, undefined);
      });

      it('may write to its two volumes', () => {
        assert.deepEqual(containerOf(rendering, task).mountPoints, [
          { sourceVolume: 'data', containerPath: '/var/lib/svc' },
          { sourceVolume: 'tmp', containerPath: '/tmp' },
        ]);
        const { volumes } = resource(rendering, 'TaskDefinition', task).inputs;
        assert.deepEqual(volumes, [{ name: 'data' }, { name: 'tmp' }]);
        assert.equal(environmentOf(rendering, task).SVC_SERVER__DATA_DIR, '/var/lib/svc');
      });

      it('is the one image with its command, for the task’s architecture', () => {
        assert.deepEqual(containerOf(rendering, task).command, ['node', 'infra/docker/start.mjs', command]);
        const { runtimePlatform } = resource(rendering, 'TaskDefinition', task).inputs;
        assert.equal(runtimePlatform.cpuArchitecture, size.architecture.toUpperCase());
        const platform = size.architecture === 'arm64' ? 'linux/arm64' : 'linux/amd64';
        for (const image of ofType(rendering, 'Image')) {
          assert.deepEqual(image.inputs.platforms, [platform]);
          assert.match(image.inputs.dockerfile.location, /infra\/docker\/Dockerfile$/);
        }
      });

      it('listens on its own port and the two of probes and metrics', () => {
        assert.deepEqual(
          containerOf(rendering, task).portMappings.map(
            (each: { readonly containerPort: number }) => each.containerPort,
          ),
          [port, 9090, 9091],
        );
      });

      it('is asked whether it is ready', () => {
        const { healthCheck } = containerOf(rendering, task);
        assert.deepEqual(healthCheck.command, ['CMD', 'node', 'infra/docker/health-check.mjs']);
        assert.ok(healthCheck.timeout < healthCheck.interval);
      });

      it('has its secrets from parameters, and none in its definition', () => {
        const container = containerOf(rendering, task);
        const text = JSON.stringify(container);
        for (const secret of [
          'worker-secret',
          'client-secret',
          'certificate-of',
          'certificate-key',
          'private-part',
          'b@redis',
        ])
          assert.ok(!text.includes(secret), secret);
        assert.deepEqual(
          container.secrets.map(
            ({ name, valueFrom }: { readonly name: string; readonly valueFrom: string }) => {
              assert.match(valueFrom, /^arn:aws:mock:::(Coordinator|Worker)/);
              return name;
            },
          ),
          secrets,
        );
      });

      it('is replaced when a secret has changed', () => {
        assert.match(environmentOf(rendering, task).DEPLOY_SECRETS_VERSION ?? '', /^3(\.3)+$/);
      });

      it('finds room on its disk for all that may be written', () => {
        const { storage, maxConcurrentQueries, spillGigabytes, cacheGigabytes, spoolGigabytes } = size;
        const needed = maxConcurrentQueries * spillGigabytes + cacheGigabytes + spoolGigabytes;
        assert.ok(needed <= Number.parseInt(storage, 10), `${needed} GiB of ${storage}`);
        const { ephemeralStorage } = resource(rendering, 'TaskDefinition', task).inputs;
        assert.equal(ephemeralStorage.sizeInGib, Number.parseInt(storage, 10));
      });
    });
  }

for (const rendering of [production, trial])
  describe(`parameters of ${rendering.stage}`, () => {
    it('are encrypted, and secret in the state', () => {
      const parameters = ofType(rendering, 'Parameter');
      assert.deepEqual(
        parameters.map(({ inputs }) => inputs.name.replace(`/svc/${rendering.stage}/`, '')),
        [
          'Coordinator/SVC_AUTH__CLIENT_SECRET',
          'Coordinator/SVC_COORDINATOR__REDIS_URL',
          'Coordinator/SVC_WORKER__SECRET',
          'Coordinator/DEPLOY_FILE_SVC_WORKER__TLS_CA',
          'Worker/SVC_WORKER__SECRET',
          'Worker/DEPLOY_FILE_SVC_WORKER__TLS_CERT',
          'Worker/DEPLOY_FILE_SVC_WORKER__TLS_KEY',
        ],
      );
      for (const { name, inputs, secrets } of parameters) {
        assert.equal(inputs.type, 'SecureString', name);
        assert.ok(secrets.includes('value'), name);
      }
    });

    it('give the coordinator an address of Redis with TLS, its password escaped', () => {
      const { inputs } = resource(rendering, 'Parameter', 'CoordinatorCoordinatorRedisUrl');
      assert.equal(inputs.value, 'rediss://default:a!%26%23%24%5E%3C%3E-b@redis.example:6379');
    });
  });

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsOf } from '../settings';
import { containerOf, environmentOf, ofType, production, resource, trial } from './renderings';

for (const rendering of [production, trial]) {
  const { workers } = settingsOf(rendering.stage);
  describe(`workers of ${rendering.stage}`, () => {
    it('scale with their processors and memory within the bounds', () => {
      const { inputs } = resource(rendering, 'Target', 'WorkerAutoScalingTarget');
      assert.deepEqual([inputs.minCapacity, inputs.maxCapacity], [workers.min, workers.max]);
      const policies = ofType(rendering, 'Policy').filter(({ type }) =>
        type.startsWith('aws:appautoscaling/'),
      );
      const targets = policies.map(({ inputs: policy }) => {
        const configuration = policy.targetTrackingScalingPolicyConfiguration;
        return [
          configuration.predefinedMetricSpecification.predefinedMetricType,
          configuration.targetValue,
          configuration.scaleOutCooldown,
          configuration.scaleInCooldown,
        ];
      });
      assert.deepEqual(targets, [
        ['ECSServiceAverageCPUUtilization', workers.cpuUtilizationPercent, 60, 600],
        ['ECSServiceAverageMemoryUtilization', workers.memoryUtilizationPercent, 60, 600],
      ]);
    });

    it('are found by a DNS name with an address for each', () => {
      const { inputs } = resource(rendering, 'servicediscovery/service:Service', 'WorkerCloudmapService');
      assert.deepEqual(
        inputs.dnsConfig.dnsRecords.map((record: { readonly type: string }) => record.type),
        ['A'],
      );
      const service = resource(rendering, 'ecs/service:Service', 'WorkerService').inputs;
      assert.equal(service.serviceRegistries.registryArn, 'arn:aws:mock:::WorkerCloudmapService');
    });

    it('are no more than an answer of DNS has addresses', () => {
      assert.ok(workers.min >= 1 && workers.max <= 8);
    });

    it('have no load balancer', () => {
      assert.deepEqual(resource(rendering, 'ecs/service:Service', 'WorkerService').inputs.loadBalancers, []);
      assert.equal(ofType(rendering, 'LoadBalancer').length, 1);
    });

    it('keep one task on capacity that is not taken back', () => {
      const { capacityProviderStrategies } = resource(
        rendering,
        'ecs/service:Service',
        'WorkerService',
      ).inputs;
      assert.deepEqual(capacityProviderStrategies, [
        { capacityProvider: 'FARGATE', base: 1, weight: 10 - workers.spotShare },
        { capacityProvider: 'FARGATE_SPOT', weight: workers.spotShare },
      ]);
    });

    it('drain before they are killed', () => {
      const drain = Number(environmentOf(rendering, 'WorkerTask').SVC_SERVER__DRAIN_TIMEOUT_SECS);
      assert.ok(drain < containerOf(rendering, 'WorkerTask').stopTimeout);
    });

    it('know nothing of the catalog, the identity provider, Redis or the function', () => {
      const names = [
        ...Object.keys(environmentOf(rendering, 'WorkerTask')),
        ...containerOf(rendering, 'WorkerTask').secrets.map((each: { readonly name: string }) => each.name),
      ];
      for (const name of names) assert.doesNotMatch(name, /CATALOG|AUTH|REDIS|LAMBDA/);
    });
  });
}

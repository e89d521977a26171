import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ofType, production, resource, trial } from './renderings';

const expected = {
  CoordinatorErrors: 'AWS/ApplicationELB HTTPCode_Target_5XX_Count Sum >= 5',
  CoordinatorMemory: 'AWS/ECS MemoryUtilization Maximum >= 85',
  CoordinatorUnhealthy: 'AWS/ApplicationELB UnHealthyHostCount Maximum >= 1',
  FragmentErrors: 'AWS/Lambda Errors Sum >= 5',
  FragmentThrottles: 'AWS/Lambda Throttles Sum >= 50',
  LoadBalancerErrors: 'AWS/ApplicationELB HTTPCode_ELB_5XX_Count Sum >= 5',
  NoCoordinator: 'AWS/ApplicationELB HealthyHostCount Maximum < 1',
  NoWorker: 'AWS/ECS CPUUtilization SampleCount < 1',
  WorkerMemory: 'AWS/ECS MemoryUtilization Maximum >= 85',
};

describe('alarms of production', () => {
  it('are these', () => {
    const alarms = ofType(production, 'MetricAlarm').map(({ name, inputs }) => {
      const sign = inputs.comparisonOperator === 'LessThanThreshold' ? '<' : '>=';
      return [
        name,
        `${inputs.namespace} ${inputs.metricName} ${inputs.statistic} ${sign} ${inputs.threshold}`,
      ];
    });
    assert.deepEqual(Object.fromEntries(alarms), expected);
  });

  it('take silence for the failure where nothing reports any more', () => {
    const silent = ofType(production, 'MetricAlarm')
      .filter(({ inputs }) => inputs.treatMissingData === 'breaching')
      .map(({ name }) => name);
    assert.deepEqual(silent, ['NoCoordinator', 'NoWorker']);
  });

  it('look at what was made', () => {
    const dimensions = (name: string) => resource(production, 'MetricAlarm', name).inputs.dimensions;
    const cluster = resource(production, 'ecs/cluster:Cluster', 'ClusterCluster').inputs.name;
    assert.deepEqual(dimensions('NoWorker'), { ClusterName: cluster, ServiceName: 'Worker' });
    assert.deepEqual(dimensions('CoordinatorMemory'), { ClusterName: cluster, ServiceName: 'Coordinator' });
    assert.deepEqual(dimensions('NoCoordinator'), {
      LoadBalancer: 'app/CoordinatorLoadBalancer',
      TargetGroup: 'targetgroup/CoordinatorTargetCoordinatorHTTP50051/1',
    });
    const { name } = resource(production, 'lambda/function:Function', 'FragmentFunction').inputs;
    assert.deepEqual(dimensions('FragmentErrors'), { FunctionName: name });
  });

  it('tell somebody, at the beginning and at the end', () => {
    assert.equal(ofType(production, 'TopicSubscription')[0]?.inputs.endpoint, 'operators@example.org');
    for (const { name, inputs } of ofType(production, 'MetricAlarm'))
      for (const actions of ['alarmActions', 'okActions'])
        assert.deepEqual(inputs[actions], ['arn:aws:mock:::Alarms'], `${name} ${actions}`);
  });
});

describe('alarms of other stages', () => {
  it('are none', () => {
    assert.deepEqual(ofType(trial, 'MetricAlarm'), []);
    assert.deepEqual(ofType(trial, 'Topic'), []);
  });
});

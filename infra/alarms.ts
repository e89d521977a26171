import type { FragmentFunction } from './fragment-function';
import type { Network } from './network';
import type { AlarmSettings } from './settings';
import type { Workers } from './workers';

export interface AlarmParts {
  readonly settings: AlarmSettings;
  readonly email: string | undefined;
  readonly network: Network;
  readonly coordinator: sst.aws.Service;
  readonly workers: Workers;
  readonly fragmentFunction: FragmentFunction;
}

interface Condition {
  readonly namespace: string;
  readonly metric: string;
  readonly statistic: 'Sum' | 'Maximum' | 'Minimum' | 'SampleCount';
  readonly dimensions: $util.Input<Record<string, $util.Input<string>>>;
  readonly comparison: 'GreaterThanOrEqualToThreshold' | 'LessThanThreshold';
  readonly threshold: number;
  readonly periodSeconds: number;
  readonly periods: number;
  /** `breaching` where silence is itself the failure. */
  readonly whenSilent?: 'breaching' | 'notBreaching';
}

/** What a person has to look at. docs/deploy.md says what each means. */
export function createAlarms(parts: AlarmParts): void {
  const { settings, email } = parts;
  if (!settings.isEnabled) return;
  const topic = new aws.sns.Topic('Alarms', { kmsMasterKeyId: 'alias/aws/sns' });
  if (email !== undefined)
    new aws.sns.TopicSubscription('AlarmsByMail', { topic: topic.arn, protocol: 'email', endpoint: email });
  for (const [name, condition] of Object.entries(conditions(parts)))
    new aws.cloudwatch.MetricAlarm(name, {
      namespace: condition.namespace,
      metricName: condition.metric,
      statistic: condition.statistic,
      dimensions: condition.dimensions,
      comparisonOperator: condition.comparison,
      threshold: condition.threshold,
      period: condition.periodSeconds,
      evaluationPeriods: condition.periods,
      treatMissingData: condition.whenSilent ?? 'notBreaching',
      alarmDescription: name,
      alarmActions: [topic.arn],
      okActions: [topic.arn],
    });
}

function conditions(parts: AlarmParts): Readonly<Record<string, Condition>> {
  return {
    ...loadBalancerConditions(parts),
    ...functionConditions(parts),
    CoordinatorMemory: memoryCondition(parts.coordinator, parts),
    WorkerMemory: memoryCondition(parts.workers.service, parts),
    NoWorker: noWorkerCondition(parts),
  };
}

function loadBalancerConditions({ coordinator, settings }: AlarmParts): Readonly<Record<string, Condition>> {
  const balancer = { LoadBalancer: coordinator.nodes.loadBalancer.arnSuffix };
  const target = {
    ...balancer,
    // The last part of its ARN: `targetgroup/<name>/<id>`.
    TargetGroup: coordinator.nodes.service.loadBalancers.apply(
      (attached) => attached?.[0]?.targetGroupArn?.split(':').at(-1) ?? '',
    ),
  };
  const counted = {
    namespace: 'AWS/ApplicationELB',
    statistic: 'Sum',
    comparison: 'GreaterThanOrEqualToThreshold',
    threshold: settings.serverErrorsPer5Minutes,
    periodSeconds: 300,
    periods: 1,
  } as const;
  const hosts = {
    namespace: 'AWS/ApplicationELB',
    dimensions: target,
    periodSeconds: 60,
    periods: 3,
  } as const;
  return {
    LoadBalancerErrors: { ...counted, metric: 'HTTPCode_ELB_5XX_Count', dimensions: balancer },
    CoordinatorErrors: { ...counted, metric: 'HTTPCode_Target_5XX_Count', dimensions: balancer },
    CoordinatorUnhealthy: {
      ...hosts,
      metric: 'UnHealthyHostCount',
      statistic: 'Maximum',
      comparison: 'GreaterThanOrEqualToThreshold',
      threshold: 1,
    },
    NoCoordinator: {
      ...hosts,
      metric: 'HealthyHostCount',
      statistic: 'Maximum',
      comparison: 'LessThanThreshold',
      threshold: 1,
      whenSilent: 'breaching',
    },
  };
}

function functionConditions({ fragmentFunction, settings }: AlarmParts): Readonly<Record<string, Condition>> {
  const counted = {
    namespace: 'AWS/Lambda',
    statistic: 'Sum',
    dimensions: { FunctionName: fragmentFunction.name },
    comparison: 'GreaterThanOrEqualToThreshold',
    periodSeconds: 300,
    periods: 1,
  } as const;
  return {
    FragmentErrors: { ...counted, metric: 'Errors', threshold: settings.functionErrorsPer5Minutes },
    FragmentThrottles: { ...counted, metric: 'Throttles', threshold: settings.functionThrottlesPer5Minutes },
  };
}

function memoryCondition(service: sst.aws.Service, parts: AlarmParts): Condition {
  return {
    namespace: 'AWS/ECS',
    metric: 'MemoryUtilization',
    statistic: 'Maximum',
    dimensions: serviceDimensions(service, parts),
    comparison: 'GreaterThanOrEqualToThreshold',
    threshold: parts.settings.memoryPercent,
    periodSeconds: 60,
    periods: 5,
  };
}

/** Each task reports its use once a minute: no report, no worker. A worker that is not ready is stopped by its health check. */
function noWorkerCondition(parts: AlarmParts): Condition {
  return {
    namespace: 'AWS/ECS',
    metric: 'CPUUtilization',
    statistic: 'SampleCount',
    dimensions: serviceDimensions(parts.workers.service, parts),
    comparison: 'LessThanThreshold',
    threshold: 1,
    periodSeconds: 60,
    periods: 3,
    whenSilent: 'breaching',
  };
}

function serviceDimensions(service: sst.aws.Service, { network }: AlarmParts) {
  return {
    ClusterName: network.cluster.nodes.cluster.name,
    ServiceName: service.nodes.service.name,
  };
}

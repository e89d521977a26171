import { ports, type Settings } from './settings';

/** Who may open connections to whom. Groups name each other, never addresses: only clients and the world outside are ranges. */
export interface SecurityGroups {
  readonly loadBalancer: aws.ec2.SecurityGroup;
  readonly coordinator: aws.ec2.SecurityGroup;
  readonly worker: aws.ec2.SecurityGroup;
  readonly redis: aws.ec2.SecurityGroup;
  /** Empty: whoever scrapes metrics or asks the probes, the status or the admin endpoint has to be a member. */
  readonly monitoring: aws.ec2.SecurityGroup;
}

export function createSecurityGroups(
  vpcId: $util.Input<string>,
  settings: Settings,
  clientCidrs: readonly string[],
): SecurityGroups {
  const group = (name: string, description: string) =>
    new aws.ec2.SecurityGroup(`${name}Group`, { vpcId, description });
  const groups: SecurityGroups = {
    loadBalancer: group('LoadBalancer', 'Load balancer of the coordinator'),
    coordinator: group('Coordinator', 'Coordinator'),
    worker: group('Worker', 'Workers'),
    redis: group('Redis', 'Redis of the coordinators'),
    monitoring: group('Monitoring', 'Members may read metrics and probes'),
  };
  for (const [index, cidr] of clientCidrs.entries())
    new aws.vpc.SecurityGroupIngressRule(`Clients${index}ToLoadBalancer`, {
      securityGroupId: groups.loadBalancer.id,
      description: 'Clients',
      cidrIpv4: cidr,
      ipProtocol: 'tcp',
      fromPort: settings.coordinator.listenerPort,
      toPort: settings.coordinator.listenerPort,
    });
  allow('LoadBalancerToCoordinator', groups.loadBalancer, groups.coordinator, ports.flight);
  allow('CoordinatorToWorker', groups.coordinator, groups.worker, ports.worker);
  allow('CoordinatorToRedis', groups.coordinator, groups.redis, ports.redis);
  allow('MonitoringToCoordinator', groups.monitoring, groups.coordinator, ports.metrics, ports.health);
  allow('MonitoringToWorker', groups.monitoring, groups.worker, ports.metrics, ports.health);
  for (const [name, from] of [
    ['Coordinator', groups.coordinator],
    ['Worker', groups.worker],
  ] as const)
    for (const port of settings.network.egressPorts)
      new aws.vpc.SecurityGroupEgressRule(`${name}ToOutside${port}`, {
        securityGroupId: from.id,
        description: 'Catalog, identity provider, object storage, AWS',
        cidrIpv4: '0.0.0.0/0',
        ipProtocol: 'tcp',
        fromPort: port,
        toPort: port,
      });
  return groups;
}

/** One connection has a rule at both of its ends. */
function allow(
  name: string,
  from: aws.ec2.SecurityGroup,
  to: aws.ec2.SecurityGroup,
  fromPort: number,
  toPort = fromPort,
): void {
  const range = { ipProtocol: 'tcp', fromPort, toPort, description: name };
  new aws.vpc.SecurityGroupEgressRule(`${name}Egress`, {
    ...range,
    securityGroupId: from.id,
    referencedSecurityGroupId: to.id,
  });
  new aws.vpc.SecurityGroupIngressRule(`${name}Ingress`, {
    ...range,
    securityGroupId: to.id,
    referencedSecurityGroupId: from.id,
  });
}

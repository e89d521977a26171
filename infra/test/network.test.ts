import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ofType, production, resource, trial } from './renderings';

interface Rule {
  readonly from: string;
  readonly to: string;
  readonly ports: string;
}

/** Who lets whom in, as the rules of one direction say it. */
function rules(rendering: typeof production, direction: 'Ingress' | 'Egress'): readonly Rule[] {
  return ofType(rendering, `SecurityGroup${direction}Rule`)
    .map(({ inputs }) => {
      assert.equal(inputs.ipProtocol, 'tcp');
      const own = String(inputs.securityGroupId).replace('-id', '');
      const other = String(inputs.cidrIpv4 ?? inputs.referencedSecurityGroupId).replace('-id', '');
      const ports =
        inputs.fromPort === inputs.toPort ? String(inputs.fromPort) : `${inputs.fromPort}-${inputs.toPort}`;
      return direction === 'Ingress' ? { from: other, to: own, ports } : { from: own, to: other, ports };
    })
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

const inside: readonly Rule[] = [
  { from: 'CoordinatorGroup', to: 'RedisGroup', ports: '6379' },
  { from: 'CoordinatorGroup', to: 'WorkerGroup', ports: '50052' },
  { from: 'LoadBalancerGroup', to: 'CoordinatorGroup', ports: '50051' },
  { from: 'MonitoringGroup', to: 'CoordinatorGroup', ports: '9090-9091' },
  { from: 'MonitoringGroup', to: 'WorkerGroup', ports: '9090-9091' },
];

for (const rendering of [production, trial]) {
  describe(`network of ${rendering.stage}`, () => {
    it('lets clients reach the load balancer’s TLS port, and nobody else from outside anything', () => {
      assert.deepEqual(rules(rendering, 'Ingress'), [
        { from: '198.51.100.7/32', to: 'LoadBalancerGroup', ports: '443' },
        { from: '203.0.113.0/24', to: 'LoadBalancerGroup', ports: '443' },
        ...inside,
      ]);
    });

    it('lets services call each other and TLS outside', () => {
      assert.deepEqual(
        rules(rendering, 'Egress'),
        [
          ...inside,
          { from: 'CoordinatorGroup', to: '0.0.0.0/0', ports: '443' },
          { from: 'WorkerGroup', to: '0.0.0.0/0', ports: '443' },
        ].toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
      );
    });

    it('has no rules but those', () => {
      for (const group of [
        ...ofType(rendering, 'SecurityGroup'),
        ...ofType(rendering, 'DefaultSecurityGroup'),
      ]) {
        if (group.name === 'NetworkNatInstanceSecurityGroup') continue;
        assert.deepEqual([group.inputs.ingress ?? [], group.inputs.egress ?? []], [[], []], group.name);
      }
      assert.deepEqual(ofType(rendering, 'SecurityGroupRule'), []);
    });

    it('runs tasks in private subnets without public addresses, each with its own group', () => {
      const networks = ofType(rendering, 'ecs/service:Service').map(
        ({ inputs }) => inputs.networkConfiguration,
      );
      assert.deepEqual(
        networks,
        ['CoordinatorGroup-id', 'WorkerGroup-id'].map((group) => ({
          assignPublicIp: false,
          securityGroups: [group],
          subnets: ['NetworkPrivateSubnet1-id', 'NetworkPrivateSubnet2-id'],
        })),
      );
    });

    it('reaches object storage past the gateways', () => {
      const { inputs } = resource(rendering, 'VpcEndpoint', 'ObjectStorage');
      assert.equal(inputs.vpcEndpointType, 'Gateway');
      assert.equal(inputs.serviceName, 'com.amazonaws.eu-central-1.s3');
      assert.deepEqual(inputs.routeTableIds, [
        'NetworkPrivateRouteTable1-id',
        'NetworkPrivateRouteTable2-id',
      ]);
    });

    it('keeps Redis in private subnets, with TLS and a password', () => {
      const { inputs, secrets } = resource(rendering, 'ReplicationGroup', 'ScanLockCluster');
      assert.equal(inputs.transitEncryptionMode, 'required');
      assert.equal(inputs.atRestEncryptionEnabled, true);
      assert.equal(inputs.clusterMode, 'disabled');
      assert.deepEqual(inputs.securityGroupIds, ['RedisGroup-id']);
      assert.ok(secrets.includes('authToken'));
      assert.deepEqual(resource(rendering, 'SubnetGroup', 'ScanLockSubnetGroup').inputs.subnetIds, [
        'NetworkPrivateSubnet1-id',
        'NetworkPrivateSubnet2-id',
      ]);
    });
  });
}

describe('gateways', () => {
  it('are managed in production, and instances for the VPC alone elsewhere', () => {
    assert.equal(ofType(production, 'NatGateway').length, 2);
    assert.equal(ofType(trial, 'NatGateway').length, 0);
    const { inputs } = resource(trial, 'SecurityGroup', 'NetworkNatInstanceSecurityGroup');
    assert.deepEqual(
      inputs.ingress.map((rule: { readonly cidrBlocks: unknown }) => rule.cidrBlocks),
      [['10.0.0.0/16']],
    );
  });
});

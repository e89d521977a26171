import type { NetworkSettings } from './settings';

export interface Network {
  readonly vpc: sst.aws.Vpc;
  readonly cluster: sst.aws.Cluster;
}

/**
 * Two kinds of subnets: public ones hold the load balancer and the gateways, private ones everything of ours. The VPC's
 * default security group lets nothing through, so that what has no group of its own reaches nobody.
 */
export function createNetwork(settings: NetworkSettings, region: string): Network {
  const vpc = new sst.aws.Vpc('Network', {
    az: settings.availabilityZones,
    nat: settings.nat,
    transform: {
      securityGroup: { ingress: [], egress: [] },
      // An instance that forwards: for the private subnets only.
      natSecurityGroup: (args) => {
        args.ingress = [{ protocol: '-1', fromPort: 0, toPort: 0, cidrBlocks: ['10.0.0.0/16'] }];
      },
    },
  });
  // Bytes of tables and of the spool do not pass the gateways, which bill each of them.
  new aws.ec2.VpcEndpoint('ObjectStorage', {
    vpcId: vpc.id,
    serviceName: `com.amazonaws.${region}.s3`,
    vpcEndpointType: 'Gateway',
    routeTableIds: vpc.nodes.privateRouteTables.apply((tables) => tables.map((table) => table.id)),
  });
  const cluster = new sst.aws.Cluster('Cluster', {
    // Named one by one: given the VPC itself, sst puts tasks into public subnets with public addresses.
    vpc: {
      id: vpc.id,
      securityGroups: vpc.securityGroups,
      containerSubnets: vpc.privateSubnets,
      loadBalancerSubnets: vpc.publicSubnets,
      cloudmapNamespaceId: vpc.nodes.cloudmapNamespace.id,
      cloudmapNamespaceName: vpc.nodes.cloudmapNamespace.name,
    },
  });
  return { vpc, cluster };
}

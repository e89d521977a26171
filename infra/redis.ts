import type { Network } from './network';

/**
 * Where coordinators take turns in renewing tokens. There is one coordinator but for the minutes of a deployment, and a
 * scan goes on without the lock after five seconds, so the smallest single node will do.
 */
export function createRedis(
  { vpc }: Network,
  group: aws.ec2.SecurityGroup,
  instance: string,
): { readonly url: $util.Output<string> } {
  const redis = new sst.aws.Redis('ScanLock', {
    engine: 'valkey',
    instance,
    cluster: false,
    vpc: { subnets: vpc.privateSubnets, securityGroups: [group.id] },
  });
  // The password has characters that end a part of an address.
  const url = $util
    .all([redis.host, redis.port, redis.password ?? ''])
    .apply(([host, port, password]) => `rediss://default:${encodeURIComponent(password)}@${host}:${port}`);
  return { url: $util.secret(url) };
}

import * as pulumi from '@pulumi/pulumi';
import type { Resource } from './resource';

/** How Pulumi marks a secret on its way to a provider. */
const secretMark = '4dabf18193072939515e22adb298388d';

const validationRecord = {
  domainName: 'sql.example.org',
  resourceRecordType: 'CNAME',
  resourceRecordName: '_proof.sql.example.org',
  resourceRecordValue: '_value.example',
};

/** The provider's part: every resource exists at once, and is called what the program calls it. */
export async function mockProvider(stage: string): Promise<readonly Resource[]> {
  const resources: Resource[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        const plain = unwrap(inputs) as Record<string, unknown>;
        const secrets = Object.keys(inputs).filter((key) => isSecret(inputs[key]));
        resources.push({ type, name, inputs: plain, secrets });
        return { id: `${name}-id`, state: { ...inputs, ...computed(type, name, plain) } };
      },
      call: ({ token, inputs }) => lookUp(token, inputs),
    },
    'svc',
    stage,
  );
  return resources;
}

/** What the provider would add; ARNs name the resource, so that policies can be read. */
function computed(type: string, name: string, inputs: Record<string, unknown>): Record<string, unknown> {
  const arn = `arn:aws:mock:::${name}`;
  const common = { arn, name: inputs.name ?? name };
  switch (type) {
    case 'aws:s3/bucket:Bucket':
      return { ...common, bucket: name };
    case 'aws:lb/loadBalancer:LoadBalancer':
      return { ...common, arnSuffix: `app/${name}`, dnsName: `${name}.load-balancer.example` };
    case 'aws:lb/targetGroup:TargetGroup':
      return { ...common, arn: `arn:aws:mock:::targetgroup/${name}/1` };
    case 'aws:acm/certificate:Certificate':
      return { ...common, domainValidationOptions: [validationRecord] };
    case 'aws:elasticache/replicationGroup:ReplicationGroup':
      return { ...common, clusterEnabled: false, primaryEndpointAddress: 'redis.example' };
    case 'random:index/randomPassword:RandomPassword':
      return { ...common, result: 'a!&#$^<>-b' };
    case 'random:index/randomBytes:RandomBytes':
      return { ...common, base64: 'AAAA' };
    case 'aws:ssm/parameter:Parameter':
      return { ...common, version: 3 };
    case 'docker-build:index:Image':
      return { ...common, digest: 'sha256:0', ref: 'image' };
    default:
      return common;
  }
}

function lookUp(token: string, inputs: Record<string, unknown>): Record<string, unknown> {
  switch (token) {
    case 'aws:index/getAvailabilityZones:getAvailabilityZones':
      return { names: ['zone-a', 'zone-b', 'zone-c'] };
    case 'aws:index/getRegion:getRegion':
      return { region: 'region-of-mocks', name: 'region-of-mocks' };
    case 'aws:index/getPartition:getPartition':
      return { partition: 'aws' };
    case 'aws:iam/getPolicyDocument:getPolicyDocument':
      return { ...inputs, json: JSON.stringify({ Statement: inputs.statements }) };
    case 'aws:ec2/getAmi:getAmi':
      return { id: 'image-of-mocks' };
    case 'aws:ecr/getAuthorizationToken:getAuthorizationToken':
      return { proxyEndpoint: 'registry.example', userName: 'user', password: 'password' };
    case 'aws:route53/getZone:getZone':
      return { zoneId: 'zone', name: 'example' };
    default:
      return inputs;
  }
}

function isSecret(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && secretMark in value;
}

function unwrap(value: unknown): unknown {
  if (isSecret(value)) return unwrap(value.value);
  if (Array.isArray(value)) return value.map(unwrap);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unwrap(inner)]));
}

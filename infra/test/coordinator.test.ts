import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsOf } from '../settings';
import { containerOf, environmentOf, ofType, production, resource, trial } from './renderings';

for (const rendering of [production, trial]) {
  const { coordinator } = settingsOf(rendering.stage);
  describe(`coordinator of ${rendering.stage}`, () => {
    it('is one task, and during a deployment the next one beside it', () => {
      const { inputs } = resource(rendering, 'ecs/service:Service', 'CoordinatorService');
      assert.equal(inputs.desiredCount, 1);
      assert.equal(inputs.deploymentMinimumHealthyPercent, 100);
      assert.equal(inputs.deploymentMaximumPercent, 200);
      assert.deepEqual(inputs.deploymentCircuitBreaker, { enable: true, rollback: true });
      assert.equal(inputs.enableExecuteCommand, false);
      const scaling = resource(rendering, 'Target', 'CoordinatorAutoScalingTarget').inputs;
      assert.deepEqual([scaling.minCapacity, scaling.maxCapacity], [1, 1]);
    });

    it('is reached by gRPC through TLS on one listener', () => {
      assert.equal(ofType(rendering, 'Listener').length, 1);
      const { inputs } = resource(rendering, 'Listener', 'CoordinatorListenerHTTPS443');
      assert.equal(inputs.protocol, 'HTTPS');
      assert.equal(inputs.port, 443);
      assert.match(inputs.sslPolicy, /TLS13/);
      assert.ok(String(inputs.certificateArn).startsWith('arn:'));
      const [target, ...others] = ofType(rendering, 'TargetGroup');
      assert.deepEqual(others, []);
      assert.equal(target?.inputs.protocolVersion, 'GRPC');
      assert.equal(target?.inputs.port, 50051);
      assert.equal(target?.inputs.targetType, 'ip');
    });

    it('is healthy while it answers calls of no service as unimplemented', () => {
      const { healthCheck } = ofType(rendering, 'TargetGroup')[0]?.inputs ?? {};
      assert.equal(healthCheck.matcher, '12');
      assert.equal(healthCheck.path, '/AWS.ALB/healthcheck');
      assert.ok(healthCheck.timeout < healthCheck.interval);
    });

    it('may be silent for as long as a query may take', () => {
      const { inputs } = resource(rendering, 'LoadBalancer', 'CoordinatorLoadBalancer');
      assert.equal(inputs.idleTimeout, coordinator.idleTimeoutSeconds);
      assert.ok(inputs.idleTimeout >= 3600);
      assert.equal(inputs.clientKeepAlive, coordinator.clientKeepAliveSeconds);
      assert.equal(inputs.dropInvalidHeaderFields, true);
      assert.deepEqual(inputs.securityGroups, ['LoadBalancerGroup-id']);
      assert.equal(inputs.enableDeletionProtection, rendering === production);
    });

    it('drains: streams end before the signal, and after it', () => {
      const { deregistrationDelay } = ofType(rendering, 'TargetGroup')[0]?.inputs ?? {};
      const { stopTimeout } = containerOf(rendering, 'CoordinatorTask');
      const drain = Number(environmentOf(rendering, 'CoordinatorTask').SVC_SERVER__DRAIN_TIMEOUT_SECS);
      assert.ok(drain < stopTimeout && stopTimeout <= 120, 'the kill comes after the drain');
      assert.ok(deregistrationDelay >= drain, 'the load balancer lets streams end for as long');
    });

    it('knows its function, spool, workers and proxies', () => {
      const environment = environmentOf(rendering, 'CoordinatorTask');
      const { name } = resource(rendering, 'lambda/function:Function', 'FragmentFunction').inputs;
      assert.equal(environment.SVC_LAMBDA__FUNCTION_NAME, name);
      assert.equal(environment.SVC_LAMBDA__REGION, 'eu-central-1');
      assert.equal(environment.SVC_FRAGMENTS__SPOOL_LOCATION, 's3://SpoolBucket/spool/');
      assert.equal(environment.SVC_WORKER__DISCOVERY_NAME, `Worker.${rendering.stage}.svc.sst:50052`);
      assert.equal(environment.SVC_SERVER__TRUSTED_PROXIES, '10.0.0.0/22,10.0.8.0/22');
      assert.equal(environment.SVC_SERVER__TLS_TERMINATED_UPSTREAM, 'true');
      assert.equal(environment.SVC_CATALOG__CATALOG_URL, 'https://catalog.example.org/');
    });
  });
}

describe('the certificate', () => {
  it('is the one that was given', () => {
    const { inputs } = resource(production, 'Listener', 'CoordinatorListenerHTTPS443');
    assert.equal(inputs.certificateArn, 'arn:aws:mock:::certificate');
    assert.deepEqual(ofType(production, 'Certificate'), []);
    assert.deepEqual(ofType(production, 'route53/record:Record'), []);
  });

  it('is made for the name where none was given, and the name leads to the load balancer', () => {
    assert.equal(ofType(trial, 'Certificate')[0]?.inputs.domainName, 'sql.example.org');
    const aliases = ofType(trial, 'route53/record:Record').filter(
      ({ inputs }) => inputs.aliases !== undefined,
    );
    assert.ok(aliases.length > 0);
    for (const { inputs } of aliases) assert.equal(inputs.name, 'sql.example.org');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsOf } from '../settings';
import { dev, environmentOf, ofType, production, resource, trial } from './renderings';

for (const rendering of [production, trial, dev]) {
  const { fragmentFunction } = settingsOf(rendering.stage);
  const inputs = () => resource(rendering, 'lambda/function:Function', 'FragmentFunction').inputs;
  describe(`fragment function of ${rendering.stage}`, () => {
    it('is one, arm64, with the bundle’s own handler', () => {
      assert.equal(ofType(rendering, 'lambda/function:Function').length, 1);
      assert.deepEqual(inputs().architectures, ['arm64']);
      assert.equal(inputs().runtime, 'nodejs22.x');
      assert.equal(inputs().handler, 'index.handler');
      assert.equal(inputs().packageType, 'Zip');
    });

    it('has the size that was decided', () => {
      assert.equal(inputs().memorySize, fragmentFunction.memoryMegabytes);
      assert.deepEqual(inputs().ephemeralStorage, { size: fragmentFunction.storageMegabytes });
      assert.equal(inputs().timeout, fragmentFunction.timeoutSeconds);
    });

    it('cannot be called but by name with a permission', () => {
      assert.deepEqual(ofType(rendering, 'FunctionUrl'), []);
      assert.deepEqual(ofType(rendering, 'lambda/permission:Permission'), []);
      assert.equal(inputs().vpcConfig, undefined);
    });

    it('has its keys, which are secret in the state, and no address of anything', () => {
      const { variables } = inputs().environment;
      assert.deepEqual(Object.keys(variables).sort(), [
        'SST_KEY',
        'SST_KEY_FILE',
        'SST_RESOURCE_App',
        'SVC_FUNCTION_KEYS',
      ]);
      const { secrets } = resource(rendering, 'lambda/function:Function', 'FragmentFunction');
      assert.ok(secrets.includes('environment'));
    });

    it('writes to a log of its own, which is kept for a time', () => {
      assert.equal(inputs().loggingConfig.logGroup, 'FragmentLog');
      assert.ok(resource(rendering, 'LogGroup', 'FragmentLog').inputs.retentionInDays > 0);
    });
  });
}

describe('how many functions run at a time', () => {
  it('is reserved in production, and what the coordinator asks for at most', () => {
    const { maxConcurrency } = settingsOf('production').fragmentFunction;
    const { inputs } = resource(production, 'lambda/function:Function', 'FragmentFunction');
    assert.equal(inputs.reservedConcurrentExecutions, maxConcurrency);
    assert.equal(
      environmentOf(production, 'CoordinatorTask').SVC_LAMBDA__MAX_CONCURRENCY,
      String(maxConcurrency),
    );
  });

  it('is not reserved where an account may have too few', () => {
    const { inputs } = resource(trial, 'lambda/function:Function', 'FragmentFunction');
    assert.equal(inputs.reservedConcurrentExecutions, undefined);
  });
});

describe('the key that fragments are sealed to', () => {
  it('is the public half of the function’s current one', () => {
    const key = environmentOf(production, 'CoordinatorTask').SVC_LAMBDA__PUBLIC_KEY ?? '';
    assert.deepEqual(JSON.parse(key), { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'current' });
  });

  it('is given up later by the coordinator than by the function', () => {
    const wait = Number(environmentOf(production, 'CoordinatorTask').SVC_LAMBDA__INVOCATION_TIMEOUT_SECS);
    assert.ok(wait > settingsOf('production').fragmentFunction.timeoutSeconds);
  });
});

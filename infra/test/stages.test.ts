import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settingsOf } from '../settings';
import { dev, ofType, production, trial } from './renderings';

describe('stages', () => {
  it('keep production from being removed, and leave nothing of others', () => {
    assert.deepEqual([production.app.removal, production.app.protect], ['retain', true]);
    assert.deepEqual([trial.app.removal, trial.app.protect], ['remove', false]);
  });

  it('tell what clients and operators need', () => {
    assert.equal(production.outputs.clients, 'grpc+tls://sql.example.org:443');
    assert.equal(production.outputs.monitoringGroup, 'MonitoringGroup-id');
  });

  it('give a drain its time in every setting', () => {
    for (const stage of ['production', 'trial']) {
      const { coordinator, workers } = settingsOf(stage);
      for (const { drainSeconds, stopSeconds } of [coordinator, workers])
        assert.ok(drainSeconds + 5 <= stopSeconds && stopSeconds <= 120);
      assert.ok(coordinator.deregistrationDelaySeconds >= coordinator.drainSeconds);
      assert.ok(coordinator.idleTimeoutSeconds <= 4000, 'the most that a load balancer takes');
    }
  });
});

describe('sst dev', () => {
  it('makes the function and its spool, and nothing that bills by the hour', () => {
    const made = dev.resources.map(({ type }) => type).filter((type) => type.startsWith('aws:'));
    assert.deepEqual(
      [...new Set(made)],
      [
        'aws:cloudwatch/logGroup:LogGroup',
        'aws:iam/role:Role',
        'aws:lambda/function:Function',
        'aws:s3/bucket:Bucket',
        'aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration',
        'aws:s3/bucketObjectv2:BucketObjectv2',
        'aws:s3/bucketPolicy:BucketPolicy',
        'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock',
      ],
    );
  });

  it('runs a coordinator and a worker on this machine', () => {
    assert.deepEqual(
      ofType(dev, 'DevCommand').map(({ name }) => name),
      ['CoordinatorHere', 'WorkerHere'],
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dev, ofType, production, resource, trial } from './renderings';

for (const rendering of [production, trial, dev])
  describe(`spool of ${rendering.stage}`, () => {
    it('forgets its objects and unfinished uploads after a day', () => {
      const { rules } = resource(rendering, 'BucketLifecycleConfiguration', 'SpoolLifecycle').inputs;
      assert.deepEqual(rules, [
        {
          id: 'expire',
          status: 'Enabled',
          filter: { prefix: 'spool/' },
          expiration: { days: 1 },
          abortIncompleteMultipartUpload: { daysAfterInitiation: 1 },
        },
      ]);
    });

    it('is public to nobody', () => {
      const { inputs } = resource(rendering, 'BucketPublicAccessBlock', 'SpoolPublicAccessBlock');
      for (const key of ['blockPublicAcls', 'blockPublicPolicy', 'ignorePublicAcls', 'restrictPublicBuckets'])
        assert.equal(inputs[key], true, key);
      assert.deepEqual(ofType(rendering, 'BucketCorsConfiguration'), []);
    });

    it('takes no request without TLS, and its policy allows nothing', () => {
      const { Statement } = JSON.parse(resource(rendering, 'BucketPolicy', 'SpoolPolicy').inputs.policy);
      assert.deepEqual(
        Statement.map(({ effect, conditions }: { effect: string; conditions: unknown }) => [
          effect,
          conditions,
        ]),
        [['Deny', [{ test: 'Bool', variable: 'aws:SecureTransport', values: ['false'] }]]],
      );
    });

    it('keeps no versions, which would outlive the objects', () => {
      assert.deepEqual(ofType(rendering, 'BucketVersioning'), []);
      assert.equal(ofType(rendering, 's3/bucket:Bucket').length, 1);
    });
  });

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dev, ofType, production, resource, statementsOf, trial } from './renderings';

const functionArn = 'arn:aws:mock:::FragmentFunction';

for (const rendering of [production, trial, dev]) {
  describe(`roles of ${rendering.stage}`, () => {
    it('lets the function write its own log, and nothing else', () => {
      const role = resource(rendering, 'Role', 'FragmentRole');
      assert.deepEqual(statementsOf(role), [
        {
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: ['arn:aws:mock:::FragmentLog:*'],
        },
      ]);
      assert.deepEqual(role.inputs.managedPolicyArns, []);
    });

    it('gives the function no action on data, and no resource that is everything', () => {
      for (const { actions, resources } of statementsOf(resource(rendering, 'Role', 'FragmentRole'))) {
        for (const action of actions) assert.match(action, /^logs:[A-Z][A-Za-z]+$/);
        for (const name of resources) assert.match(name, /^arn:aws:mock:::FragmentLog/);
      }
    });

    it('lets the service assume the function’s role, and no identity of the account', () => {
      const { assumeRolePolicy } = resource(rendering, 'Role', 'FragmentRole').inputs;
      assert.deepEqual(
        assumeRolePolicy.Statement.map((each: { readonly Principal: unknown }) => each.Principal),
        [{ Service: 'lambda.amazonaws.com' }],
      );
    });

    it('attaches no policy from elsewhere to a role', () => {
      assert.deepEqual(ofType(rendering, 'RolePolicyAttachment'), []);
      assert.deepEqual(ofType(rendering, 'RolePolicy'), []);
    });
  });
}

for (const rendering of [production, trial]) {
  describe(`roles of the tasks of ${rendering.stage}`, () => {
    it('lets the coordinator invoke this function and use the spool prefix', () => {
      const role = resource(rendering, 'Role', 'CoordinatorTaskRole');
      assert.deepEqual(statementsOf(role), [
        { actions: ['lambda:InvokeFunction'], resources: [functionArn] },
        {
          actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
          resources: ['arn:aws:mock:::SpoolBucket/spool/*'],
        },
      ]);
      assert.equal(role.inputs.managedPolicyArns, undefined);
    });

    it('lets a worker do nothing', () => {
      const role = resource(rendering, 'Role', 'WorkerTaskRole');
      assert.deepEqual(statementsOf(role), []);
      assert.equal(role.inputs.managedPolicyArns, undefined);
    });

    it('starts a task with its own secrets only', () => {
      const secrets = (role: string) => statementsOf(resource(rendering, 'Role', role));
      assert.deepEqual(secrets('CoordinatorExecutionRole'), [
        {
          actions: ['ssm:GetParameters'],
          resources: ['WorkerSecret', 'WorkerTlsCa', 'AuthClientSecret', 'CoordinatorRedisUrl'].map(
            (name) => `arn:aws:mock:::Coordinator${name}`,
          ),
        },
      ]);
      assert.deepEqual(secrets('WorkerExecutionRole'), [
        {
          actions: ['ssm:GetParameters'],
          resources: ['WorkerSecret', 'WorkerTlsCert', 'WorkerTlsKey'].map(
            (name) => `arn:aws:mock:::Worker${name}`,
          ),
        },
      ]);
    });

    it('grants no role everything, or by everything', () => {
      const names = ofType(rendering, 'Role').map((role) => role.name);
      assert.deepEqual(
        names,
        [
          'CoordinatorExecutionRole',
          'CoordinatorTaskRole',
          'FragmentRole',
          'WorkerExecutionRole',
          'WorkerTaskRole',
          ...(rendering === trial ? ['NetworkNatInstanceRole'] : []),
        ].sort(),
      );
      for (const role of ofType(rendering, 'Role').filter(({ name }) => !name.startsWith('Network')))
        for (const { actions, resources } of statementsOf(role)) {
          assert.ok(!resources.includes('*'), role.name);
          assert.ok(!actions.some((action) => action.includes('*')), role.name);
        }
    });
  });
}

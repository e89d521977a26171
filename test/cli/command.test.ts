import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { runSvc } from './support/svc.js';

it('npx svc is this program, from npm ci on', async () => {
  const root = new URL('../../..', import.meta.url);
  const { stdout } = await promisify(execFile)('npx', ['--no', '--', 'svc', '--version'], { cwd: root });
  assert.equal(stdout, (await runSvc(['--version'], {})).stdout);
});

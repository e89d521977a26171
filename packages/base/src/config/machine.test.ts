import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuQuota, readMachine } from './machine.js';

describe('the machine', () => {
  it('has at least one core and some memory', () => {
    const machine = readMachine();
    assert.ok(Number.isInteger(machine.cores) && machine.cores >= 1);
    assert.ok(machine.memoryBytes > 2 ** 20 && machine.memoryBytes < 2 ** 50);
  });

  it('finds the processor quota of its control group, version 2 and version 1', () => {
    const nested = { '/proc/self/cgroup': '0::/a/b\n', '/sys/fs/cgroup/a/b/cpu.max': '150000 100000\n' };
    assert.equal(cpuQuota(files(nested)), 1.5);
    assert.equal(cpuQuota(files({ '/sys/fs/cgroup/cpu.max': '200000 100000' })), 2);
    const first = '/sys/fs/cgroup/cpu/cpu.cfs';
    assert.equal(cpuQuota(files({ [`${first}_quota_us`]: '50000', [`${first}_period_us`]: '100000' })), 0.5);
  });

  it('has no quota where none is set', () => {
    assert.equal(cpuQuota(files({})), undefined);
    assert.equal(cpuQuota(files({ '/sys/fs/cgroup/cpu.max': 'max 100000' })), undefined);
    const first = '/sys/fs/cgroup/cpu/cpu.cfs';
    const unlimited = { [`${first}_quota_us`]: '-1', [`${first}_period_us`]: '100000' };
    assert.equal(cpuQuota(files(unlimited)), undefined);
  });
});

function files(content: Readonly<Record<string, string>>): (path: string) => string | undefined {
  return (path) => content[path];
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineLease, EnginePool, LeaseRequest } from '@svc/engine';
import { BridgingPool } from './bridging-pool.js';

describe('the pool of an embedded session', () => {
  it('does small work in the process until a host is there, and on the host from then on', async () => {
    const { pool, hosts, inProcess } = newPool();
    await take(pool, 'small');
    assert.deepEqual([hosts.lanes, inProcess.lanes], [[], ['small']]);
    await take(pool, 'query');
    await take(pool, 'small');
    assert.deepEqual([hosts.lanes, inProcess.lanes], [['query', 'query'], ['small']]);
  });

  it('starts no host for small work alone, and one when told to', async () => {
    const { pool, hosts } = newPool();
    await take(pool, 'small');
    assert.equal(hosts.opened, 0);
    await pool.startHost('ada');
    await pool.startHost('ada');
    assert.equal(hosts.opened, 1);
    assert.equal(hosts.open, 0, 'the lease that waited for the host is given back');
  });

  it('leaves it to the statement to report a host that does not start', async () => {
    const { pool, hosts } = newPool();
    hosts.isBroken = true;
    await pool.startHost('ada');
    await assert.rejects(take(pool, 'query'), /does not start/);
    await take(pool, 'small');
  });

  it('ends both kinds', async () => {
    const { pool, hosts, inProcess } = newPool();
    await take(pool, 'small');
    await take(pool, 'query');
    await pool.destroy();
    assert.deepEqual([hosts.isDestroyed, inProcess.isDestroyed], [true, true]);
  });
});

interface FakePool {
  opened: number;
  open: number;
  readonly lanes: string[];
  isBroken: boolean;
  isDestroyed: boolean;
}

function newPool() {
  const hosts = newFake();
  const inProcess = newFake();
  const pool = new BridgingPool({
    openHosts: () => poolOf(hosts),
    openInProcess: () => poolOf(inProcess),
  });
  return { pool, hosts, inProcess };
}

function newFake(): FakePool {
  return { opened: 0, open: 0, lanes: [], isBroken: false, isDestroyed: false };
}

function poolOf(fake: FakePool): EnginePool {
  fake.opened += 1;
  const destroy = async () => {
    fake.isDestroyed = true;
  };
  return {
    async lease({ lane }: LeaseRequest) {
      if (fake.isBroken) throw new Error('The host does not start.');
      fake.lanes.push(lane);
      fake.open += 1;
      const release = async () => {
        fake.open -= 1;
      };
      // Nothing here runs a statement.
      return { inputDirectory: '', release } as unknown as EngineLease;
    },
    stats: () => {
      throw new Error('Nobody asks.');
    },
    close: destroy,
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

async function take(pool: EnginePool, lane: LeaseRequest['lane']): Promise<void> {
  const lease = await pool.lease({ owner: 'ada', lane });
  await lease.release();
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FragmentExecutor, FragmentTable } from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import type { ExecutorCapacity } from '../scheduler/executors.js';
import { choosePlace, type PlaceOptions } from './choose-place.js';

const worker = { name: 'worker', kind: 'workers', slots: 2 } as FragmentExecutor;
const lambda = { name: 'lambda', kind: 'lambda', slots: 100 } as FragmentExecutor;

function tableOf(bytesPlanned: number): FragmentTable {
  const groups = [{ sources: [], files: [{ location: 's3://b/f' }] }];
  return {
    ...{ kind: 'scan', catalog: 'c', schema: 's', table: 't' },
    scan: { groups, counts: { bytesPlanned } },
  } as unknown as FragmentTable;
}

function place(options: {
  readonly execution?: PlaceOptions['execution'];
  readonly executors?: readonly FragmentExecutor[];
  readonly bytes?: number;
  readonly tables?: readonly FragmentTable[];
  readonly store?: Partial<ObjectStore>;
  readonly isWholeColumns?: boolean;
  readonly capacity?: ExecutorCapacity;
  readonly idleHosts?: number;
}) {
  const { execution = 'auto', executors = [worker], bytes = 1000, isWholeColumns = false } = options;
  const store = options.store ?? { grant: async () => ({ kind: 'files' }), localPath: () => undefined };
  const chosen = choosePlace({
    ...{ execution, isWholeColumns, tables: options.tables ?? [tableOf(bytes)] },
    stores: [store as ObjectStore],
    idleHosts: () => options.idleHosts ?? 0,
    rules: {
      executors: {
        workers: () => executors.filter(({ kind }) => kind === 'workers'),
        lambda: () => executors.find(({ kind }) => kind === 'lambda'),
        ...(options.capacity && { capacity: () => options.capacity as ExecutorCapacity }),
      },
      ...{ distributeBytes: 500, lambdaBytes: 5000, broadcastBytes: 10 },
    },
  });
  return chosen.kind === 'here' ? `here: ${chosen.reason}` : chosen.kinds.join(' and ');
}

describe('where a statement runs', () => {
  it('is on executors where it reads enough', () => {
    assert.equal(place({}), 'workers');
    assert.equal(
      place({ bytes: 499 }),
      'here: it reads 499 bytes, less than 500 (fragments.distribute_bytes)',
    );
    assert.equal(place({ executors: [worker, lambda] }), 'workers');
    assert.equal(place({ executors: [worker, lambda], bytes: 5000 }), 'workers and lambda');
    assert.equal(place({ executors: [lambda] }), 'lambda');
  });

  it('is here for want of executors, for what cannot leave, and for whole columns', () => {
    assert.equal(place({ executors: [] }), 'here: there is no worker and no function');
    assert.equal(place({ tables: [] }), 'here: it reads no table');
    assert.match(
      place({ store: { localPath: () => undefined } }),
      /^here: the files of c.s.t cannot be opened elsewhere$/,
    );
    assert.match(place({ isWholeColumns: true }), /^here: whole columns/);
    const rows = { ...{ kind: 'rows', catalog: 'c', schema: 's', table: 't' } } as unknown as FragmentTable;
    assert.match(
      place({ tables: [rows], execution: 'workers' }),
      /^here: the rows of c.s.t are made by the coordinator$/,
    );
    const onDisk = { grant: async () => ({ kind: 'files' as const }), localPath: () => '/f' };
    assert.equal(place({ store: onDisk }), 'here: its files are on this machine');
  });

  it('is on warm functions too, or here, while no slot of a worker is free', () => {
    const both = [worker, lambda];
    const at = (freeWorkerSlots: number, warmSandboxes: number) => ({ freeWorkerSlots, warmSandboxes });
    assert.equal(place({ executors: both, capacity: at(1, 9) }), 'workers');
    assert.equal(place({ executors: both, capacity: at(0, 9) }), 'workers and lambda');
    assert.equal(place({ executors: both, capacity: at(0, 0) }), 'workers');
    assert.equal(place({ executors: [lambda], capacity: at(0, 0), idleHosts: 1 }), 'lambda');
    const busy = 'here: it reads 1000 bytes, and no slot of a worker is free';
    assert.equal(place({ capacity: at(0, 0), idleHosts: 1 }), busy);
    assert.equal(place({ capacity: at(0, 0), idleHosts: 0 }), 'workers');
    assert.equal(place({ capacity: at(0, 0), idleHosts: 1, bytes: 2000 }), 'workers');
    assert.equal(place({ execution: 'workers', capacity: at(0, 0), idleHosts: 1 }), 'workers');
  });

  it('is what the session asks for', () => {
    assert.equal(place({ execution: 'local' }), 'here: svc.execution is local');
    assert.equal(place({ execution: 'workers', bytes: 1, isWholeColumns: true }), 'workers');
    assert.equal(place({ execution: 'lambda', executors: [worker, lambda] }), 'lambda');
    const isNoExecutor = (error: unknown) => error instanceof QueryError && error.code === 'NO_EXECUTOR';
    assert.throws(() => place({ execution: 'lambda' }), isNoExecutor);
    assert.throws(() => place({ execution: 'workers', executors: [] }), isNoExecutor);
  });
});

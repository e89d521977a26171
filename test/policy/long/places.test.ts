/** Non-interference where fragments run elsewhere: two worker processes for each world. Needs the built program. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  startWorkerProcess,
  type WorkerProcess,
  workerSecret,
} from '../../service/support/worker-process.js';
import { joinAttacks } from '../attacks/joins.js';
import { maskAttacks } from '../attacks/masks.js';
import { predicateAttacks } from '../attacks/predicates.js';
import { shapeAttacks } from '../attacks/shapes.js';
import { differenceText } from '../support/difference-text.js';
import { rowFilters } from '../support/policies.js';
import { opened, openTwoWorlds, type TwoWorlds } from '../support/two-worlds.js';

const attacks = [...joinAttacks, ...predicateAttacks, ...maskAttacks, ...shapeAttacks];
const filters = rowFilters.filter(({ name }) => name === 'modulo');

let folder: string;
let workers: readonly WorkerProcess[] = [];
let two: TwoWorlds | undefined;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-places-'));
  workers = await Promise.all(['a', 'b'].map((name) => startWorkerProcess(join(folder, name))));
  two = await openTwoWorlds({
    filters,
    service: {
      config: {
        'worker.secret': workerSecret,
        'worker.addresses': workers.map(({ address }) => address).join(','),
        'worker.heartbeat_interval_secs': 0.1,
        'fragments.distribute_bytes': 0,
      },
    },
  });
});
after(async () => {
  await two?.[Symbol.asyncDispose]();
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('what is hidden changes no answer of workers', () => {
  for (const { name } of filters)
    for (const place of ['local', 'workers'])
      it(`behind ${name}, svc.execution = ${place}`, async (context) => {
        const differences: string[] = [];
        for (const each of attacks) {
          const { difference } = await opened(two).compare(name, each, [`SET svc.execution = ${place}`]);
          if (difference === undefined) continue;
          differences.push(difference.attack);
          context.diagnostic(differenceText(difference));
        }
        assert.deepEqual(differences, []);
      });
});

/** A worker as a process, and the coordinator's end of its calls to it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { SplitEvent, SplitRun } from '@svc/fragment-fn';
import { rowsOf as tableRows, tableOf } from './support/results.js';
import { ordersTask } from './support/split-tasks.js';
import { makeTables, standardTables } from './support/tables.js';
import { startWorkerProcess } from './support/worker-process.js';

const never = new AbortController().signal;
let folder: string;
let orders: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-worker-'));
  const { 'sales.orders': sql = '' } = standardTables;
  orders = (await makeTables(join(folder, 'warehouse'), { 'sales.orders': sql })).get('sales.orders') ?? '';
});
after(async () => await rm(folder, { recursive: true, force: true }));

describe('svc worker', () => {
  it('runs a task of a coordinator', async () => {
    await using worker = await startWorkerProcess(join(folder, 'one'));
    const run = await worker.executor().start(await ordersTask(orders), never);
    const events = await readAll(run);
    assert.deepEqual(
      events.map((event) => `${event.kind} ${event.split}`),
      ['message 10', 'end 10', 'message 11', 'end 11', 'message 12', 'end 12'],
    );
    assert.deepEqual(rowsOf(run, events), [
      [8192n, 0n, 8191n, 'south'],
      [6144n, 8192n, 14_335n, 'south'],
      [6144n, 14_336n, 20_479n, 'south'],
    ]);
  });
});

async function readAll(run: SplitRun): Promise<readonly SplitEvent[]> {
  const events: SplitEvent[] = [];
  for await (const event of run.events) events.push(event);
  return events;
}

function rowsOf(run: SplitRun, events: readonly SplitEvent[]): readonly (readonly unknown[])[] {
  const messages = events.flatMap((event) => (event.kind === 'message' ? [event.message] : []));
  return tableRows(tableOf([{ header: run.schema.subarray(8), body: new Uint8Array(0) }, ...messages]));
}

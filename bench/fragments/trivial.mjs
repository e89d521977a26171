// Fragments of nothing on a real worker, by the coordinator's own client and scheduler in this process: what a fragment
// costs whatever it computes. `round trips N` and `merge N` on standard input, one line of JSON for each. See ../README.md.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createMetrics } from '@svc/base';
import { createWorkerExecutor, parseWorkerAddress } from '@svc/coordinator';
import { callKey, fragmentProtocolVersion } from '@svc/fragment-fn';
import { Dispatcher } from '../../packages/coordinator/dist/scheduler/dispatcher.js';
import { ExecutorHealth } from '../../packages/coordinator/dist/scheduler/executor-health.js';
import { GatheredRows } from '../../packages/coordinator/dist/scheduler/gathered-rows.js';
import { SplitStage } from '../../packages/coordinator/dist/scheduler/split-stage.js';

const [address, secret] = process.argv.slice(2);
const executor = createWorkerExecutor(parseWorkerAddress(address), {
  coordinator: 'bench',
  key: callKey(secret),
  now: Date.now,
  stallMs: 30_000,
  heartbeatTimeoutMs: 10_000,
});
const never = new AbortController().signal;
const emptyScan = {
  tableName: 'lake.none.none',
  tableUuid: 'none',
  snapshotId: undefined,
  columns: [],
  groups: [],
  counts: {
    ...{ manifestsTotal: 0, manifestsRead: 0, filesTotal: 0, filesPlanned: 0, filesPruned: 0 },
    ...{ rowGroupsTotal: 0, rowGroupsPlanned: 0, rowGroupsPrunedByStatistics: 0, rowGroupsPrunedByBloom: 0 },
    ...{ bytesTotal: 0, bytesPlanned: 0, rowsPlanned: 0 },
  },
};

function taskOf(fragmentId, splits) {
  const request = {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'bench',
    fragmentId,
    lane: 'query',
    owner: 'bench 1',
    sql: 'SELECT 1 AS one',
    tables: [],
    views: [],
    defaultCatalog: 'svc_stages',
    defaultSchema: undefined,
    settings: { TimeZone: 'UTC' },
    setup: [],
    arrow: 'lossless',
    limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 31, timeoutMs: 60_000 },
    splits,
  };
  return { request, stores: [] };
}

async function roundTrips(count) {
  const seconds = [];
  const cpu = process.cpuUsage();
  for (let number = 0; number < count; number += 1) {
    const since = performance.now();
    const run = await executor.start(taskOf(number, [{ id: 0, scan: emptyScan }]), never);
    for await (const event of run.events) if (event.kind === 'message') event.message.release();
    seconds.push((performance.now() - since) / 1000);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpu_seconds: (user + system) / 1e6 };
}

/** A stage of so many splits, each a task of its own, the worker having as many of them at a time as it has slots. */
async function merge(count) {
  const elapsed = () => performance.now();
  const health = new ExecutorHealth({ elapsed });
  const dispatcher = new Dispatcher(health);
  const rows = new GatheredRows({
    memoryBytes: 32 * 2 ** 20,
    slowReaderMs: 60_000,
    openSpool: () => {
      throw new Error('1,000 rows need no file.');
    },
    onRoom: () => dispatcher.pump(),
  });
  // As many slots as splits: each is sent as a task of its own. The gate keeps to what the worker has.
  const gate = gateOf(executor.slots);
  const gated = {
    name: executor.name,
    kind: executor.kind,
    slots: count,
    start: (task, signal) => gate(executor, task, signal),
  };
  let [fragments, sum] = [0, 0];
  const stage = new SplitStage({
    ...{ queryId: 'bench', stage: 's1', rows, executors: () => [gated], dispatcher, health, elapsed },
    metrics: createMetrics(),
    splits: Array.from({ length: count }, (_, id) => ({ id, scan: emptyScan })),
    nextFragmentId: () => ++fragments,
    count: () => undefined,
    report: () => undefined,
    patienceMs: 5000,
    // Without a table there is one split in a task.
    taskOf,
  });
  const cpu = process.cpuUsage();
  const since = performance.now();
  const running = stage.run(never);
  for await (const message of rows.messages(never)) {
    sum += message.rowCount;
    message.release();
  }
  await running;
  const seconds = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  if (sum !== count) throw new Error(`${count} fragments answered ${sum} rows.`);
  return { fragments, seconds, cpu_seconds: (user + system) / 1e6, peak_bytes: peakBytes() };
}

function gateOf(most) {
  let free = most;
  const waiting = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (target, task, signal) => {
    if (free > 0) free -= 1;
    else await new Promise((resolve) => waiting.push(resolve));
    try {
      const { schema, events } = await target.start(task, signal);
      return { schema, events: ending(events, leave) };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

async function* ending(events, onEnd) {
  try {
    yield* events;
  } finally {
    onEnd();
  }
}

/** The most that this process has had: node, its modules and all. */
function peakBytes() {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

const jobs = { 'round trips': roundTrips, merge };
await executor.heartbeat();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [, name, count] = /^(.+) (\d+)$/.exec(line);
  console.log(JSON.stringify(await jobs[name](Number(count))));
}
executor.close();

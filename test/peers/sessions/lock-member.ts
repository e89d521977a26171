/** One of several processes that share the lock of token scans: holds it again and again, and prints when. */
import { createLogger, createMetrics, parseLogFilter } from '@svc/base';
import { openScanLock } from '@svc/coordinator';

export interface Turn {
  readonly isAlone: boolean;
  /** Milliseconds of the machine's clock that is never set: the same for all processes. */
  readonly fromMs: number;
  readonly toMs: number;
}

const { LOCK_URL, LOCK_TURNS = '1', LOCK_TURN_MS = '20' } = process.env;
const never = new AbortController().signal;
const logger = createLogger('lock', {
  write: (line) => process.stderr.write(`${line}\n`),
  filter: parseLogFilter('trace'),
});
const lock = await openScanLock({
  config: { 'coordinator.redis_url': LOCK_URL },
  logger,
  metrics: createMetrics(),
});
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const turns: Turn[] = [];
for (let turn = 0; turn < Number(LOCK_TURNS); turn += 1) {
  await lock.run(async (isAlone) => {
    const fromMs = nowMs();
    await new Promise((resolve) => setTimeout(resolve, Number(LOCK_TURN_MS)));
    turns.push({ isAlone, fromMs, toMs: nowMs() });
  }, never);
}
lock.close();
process.stdout.write(JSON.stringify(turns));

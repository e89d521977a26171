/** Who may sign in by a configuration, with clocks that only the test moves. */
import { createLogger, createMetrics, loadConfig, parseLogFilter } from '@svc/base';
import type { SignInOrigin } from '../identity/identity-provider.js';
import { type OpenIdentity, openIdentity } from '../identity/open-identity.js';
import { type FakeClock, fakeClock } from './clock.js';

export interface TestIdentity extends Disposable {
  readonly identity: OpenIdentity;
  /** The clock of the wall, by which tokens expire. */
  readonly wall: FakeClock;
  /** The clock that nobody sets, by which caches and limits are timed. */
  readonly steady: FakeClock;
  readonly logLines: readonly string[];
  metricsText(): Promise<string>;
}

export function originOf(clientAddress = '192.0.2.1', signal?: AbortSignal): SignInOrigin {
  return { clientAddress, signal: signal ?? new AbortController().signal };
}

export async function openTestIdentity(
  config: Readonly<Record<string, string | number>>,
): Promise<TestIdentity> {
  const logLines: string[] = [];
  const wall = fakeClock(Date.now());
  const steady = fakeClock();
  const metrics = createMetrics();
  const identity = await openIdentity({
    config: loadConfig({ environment: environmentOf(config) }),
    logger: createLogger('svc', {
      write: (line) => logLines.push(line),
      filter: parseLogFilter('trace'),
    }),
    metrics,
    now: wall.now,
    elapsed: steady.now,
  });
  return {
    identity,
    wall,
    steady,
    logLines,
    metricsText: () => metrics.text(),
    [Symbol.dispose]: identity.close,
  };
}

function environmentOf(config: Readonly<Record<string, string | number>>) {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      `SVC_${key.replace('.', '__').toUpperCase()}`,
      String(value),
    ]),
  );
}

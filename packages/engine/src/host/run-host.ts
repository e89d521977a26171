import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ignoreSignal } from '../shm/libc.js';
import { SlotWriter } from '../shm/slot-writer.js';
import { BlockingChannel } from './blocking-channel.js';
import { runHostLoop } from './host-loop.js';
import type { HostSettings } from './host-settings.js';
import type { EngineRuntime } from './instance-interface.js';
import { limitMemory, preferAsVictim, residentLimit } from './memory-limit.js';
import { hostFds } from './protocol.js';
import { createSharedState } from './shared-state.js';
import type { WatcherData } from './watcher.js';

/**
 * The life of an engine host process: set up, serve until the parent is gone, end. The process always ends by
 * SIGKILL, because an ordinary exit would wait for the watcher thread's blocking read and for engine threads.
 */
export async function runHost(settings: HostSettings, runtime: EngineRuntime): Promise<void> {
  // Ctrl-C reaches the whole process group; the parent drains and the host ends when its pipe closes.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) ignoreSignal(constants.signals[name]);
  const channel = new BlockingChannel(hostFds.requests);
  const slots = new SlotWriter(hostFds.ring, settings.layout);
  const state = createSharedState();
  await startWatcher({
    controlFd: hostFds.control,
    state: state.buffer,
    controlModule: runtime.controlModule,
    controlData: runtime.controlData,
    ...(settings.memoryGuard === 'watchdog' ? { residentLimitBytes: residentLimit(settings.limits) } : {}),
  });
  if (settings.memoryGuard === 'system') limitMemory(settings.limits);
  preferAsVictim();
  channel.write({ type: 'ready' });
  const { limits, inputDirectory, outputDirectory, tempDirectory } = settings;
  runHostLoop({
    channel,
    slots,
    state,
    runtime,
    instanceOptions: { limits, inputDirectory, outputDirectory, tempDirectory },
  });
  process.kill(process.pid, 'SIGKILL');
}

function startWatcher(data: WatcherData): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = new Worker(new URL('./watcher.js', import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    });
    // Its one message: the engine library is loaded there too, so that the memory limit counts it as present.
    watcher.once('message', () => resolve());
    watcher.once('error', reject);
  });
}

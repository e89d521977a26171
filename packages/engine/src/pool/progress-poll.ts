import type { EngineProgress } from '../api.js';
import type { HostOperation } from '../host/host-operation.js';
import type { HostProcess } from '../host/host-process.js';

const POLL_EVERY_MS = 200;

/** Reports how far a statement is until the engine is done with it. */
export function pollProgress(
  host: HostProcess,
  operation: HostOperation,
  onProgress: (progress: EngineProgress) => void,
): void {
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void host.progress(operation).then((progress) => {
      isAsking = false;
      if (!operation.isEnding) onProgress(progress);
    });
  }, POLL_EVERY_MS);
  timer.unref();
  void operation.settled.then(() => clearInterval(timer));
}

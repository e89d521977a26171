import { abortable, delay } from '@svc/base';

/** Writers of this process that would meet at one table go one after the other; see WritableCatalog.inTurn. */
export interface WriterTurns {
  take<T>(key: string, body: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>;
}

/** Whoever has waited for so long goes without a turn: which of two commits wins is the service's decision. */
const longestWaitMs = 2000;

export function createWriterTurns(): WriterTurns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(key, body, signal) {
      const before = last.get(key);
      const inTurn = async () => {
        if (before !== undefined)
          await abortable(Promise.race([before, delay(longestWaitMs, signal)]), signal);
        return await body();
      };
      const running = inTurn();
      const ended = running
        .catch(() => undefined)
        .finally(() => {
          if (last.get(key) === ended) last.delete(key);
        });
      last.set(key, ended);
      return await running;
    },
  };
}

import type { QueryError } from '@svc/base';
import type { ResultStream } from '@svc/flight';
import type { PlannedStatement } from '../../planner/planned-statement.js';
import { trackedMessages } from '../../service/tracked-messages.js';

/** What runs for tickets now, so that it can be ended by them and not only by the call that reads it. */
export interface TicketRuns {
  /** Starts a run; its signal aborts with `signal`, and when the ticket's runs are cancelled. */
  run(
    planned: PlannedStatement,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<ResultStream>,
  ): Promise<ResultStream>;
  /** Ends the runs of a plan with this error; answers whether there were any. */
  cancel(planned: PlannedStatement, error: QueryError): boolean;
}

export function createTicketRuns(): TicketRuns {
  const running = new WeakMap<PlannedStatement, Set<AbortController>>();
  return {
    async run(planned, signal, start) {
      const controller = new AbortController();
      const onAbort = () => controller.abort(signal.reason);
      const controllers = running.get(planned) ?? new Set();
      const end = () => {
        signal.removeEventListener('abort', onAbort);
        controllers.delete(controller);
      };
      running.set(planned, controllers.add(controller));
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      try {
        const result = await start(controller.signal);
        const messages = trackedMessages(result.messages, { onMessage: () => {}, onEnd: end });
        return { ...result, messages };
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel(planned, error) {
      const controllers = [...(running.get(planned) ?? [])];
      for (const controller of controllers) controller.abort(error);
      return controllers.length > 0;
    },
  };
}

/** SIGHUP, by which log files that were renamed are opened anew. Answers a function that removes the handler. */
export function onReopenSignal(reopen: () => void): () => void {
  process.on('SIGHUP', reopen);
  return () => {
    process.off('SIGHUP', reopen);
  };
}

/**
 * Ctrl-C and SIGTERM: the first asks for a drain, a second one forces. Answers a function that removes the handlers.
 */
export function onStopSignals(drain: (signal: string) => void, force: (signal: string) => void): () => void {
  let isDraining = false;
  const handler = (signal: NodeJS.Signals) => {
    if (isDraining) {
      force(signal);
      return;
    }
    isDraining = true;
    drain(signal);
  };
  process.on('SIGINT', handler);
  process.on('SIGTERM', handler);
  return () => {
    process.off('SIGINT', handler);
    process.off('SIGTERM', handler);
  };
}

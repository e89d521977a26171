const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ctrl-C and its kin while a command works: the first one asks it to stop; another one ends the process as if there
 * were no handler. Answers a function that removes the handlers.
 */
export function onInterrupt(stop: () => void): () => void {
  const remove = () => {
    for (const signal of stopSignals) process.off(signal, handler);
  };
  const handler = () => {
    remove();
    stop();
  };
  for (const signal of stopSignals) process.on(signal, handler);
  return remove;
}

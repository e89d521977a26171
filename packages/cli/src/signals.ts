/**
 * Ctrl-C and SIGTERM while a command works: the first one asks it to stop; another one ends the process as if there
 * were no handler. Answers a function that removes the handlers.
 */
export function onInterrupt(stop: () => void): () => void {
  const remove = () => {
    process.off('SIGINT', handler);
    process.off('SIGTERM', handler);
  };
  const handler = () => {
    remove();
    stop();
  };
  process.on('SIGINT', handler);
  process.on('SIGTERM', handler);
  return remove;
}

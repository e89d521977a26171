import type { LogFields, Logger } from '@svc/base';

/** A warning of something that may go on for long: written at once, and then once a minute at most, with how often. */
export function createSparseWarning(
  logger: Logger,
  message: string,
  { everyMs = 60_000, now = () => performance.now() } = {},
): (fields?: LogFields) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  let unwritten = 0;
  return (fields) => {
    const nowMs = now();
    if (nowMs - lastMs < everyMs) {
      unwritten += 1;
      return;
    }
    logger.log('warn', message, { ...fields, ...(unwritten === 0 ? {} : { not_logged: unwritten }) });
    lastMs = nowMs;
    unwritten = 0;
  };
}

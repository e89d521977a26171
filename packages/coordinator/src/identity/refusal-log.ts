import { errorFields, type Logger, type QueryError } from '@svc/base';

/**
 * Records of refused sign-ins and bearers: a few per period, then only how many more there were, so that a flood of wrong
 * ones does not fill the disk. No record has the name that was tried: people type passwords there.
 */
export interface RefusalLog {
  record(what: 'sign-in' | 'bearer', error: QueryError, clientAddress: string): void;
}

const periodMs = 10_000;
const maxPerPeriod = 20;

export function createRefusalLog(logger: Logger, elapsed: () => number): RefusalLog {
  let periodStartedAt = Number.NEGATIVE_INFINITY;
  let recorded = 0;
  let dropped = 0;
  return {
    record(what, error, clientAddress) {
      if (elapsed() - periodStartedAt >= periodMs) {
        if (dropped > 0) logger.log('warn', `${dropped} more sign-ins and bearers were refused`);
        periodStartedAt = elapsed();
        recorded = 0;
        dropped = 0;
      }
      if (recorded >= maxPerPeriod) {
        dropped += 1;
        return;
      }
      recorded += 1;
      logger.log('warn', `${what} refused`, { client_address: clientAddress, ...errorFields(error) });
    },
  };
}

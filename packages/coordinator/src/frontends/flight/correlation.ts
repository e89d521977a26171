import { correlationFields, type LogContext } from '@svc/base';
import type { CallContext } from '@svc/flight';

/** The caller's correlation fields (spec 2.9), from headers that were read before anybody was authenticated. */
export function correlation(context: CallContext): LogContext {
  return correlationFields((name) => context.headers.get(name));
}

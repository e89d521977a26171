import { AsyncLocalStorage } from 'node:async_hooks';

/** The correlation fields of the specification (sections 2.9 and 6.2) that follow a call through its async context. */
export interface LogContext {
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly request_id?: string;
  readonly session_id?: string;
  readonly query_id?: string;
  readonly user?: string;
  readonly statement_type?: string;
}

const storage = new AsyncLocalStorage<LogContext>();

export function currentLogContext(): LogContext {
  return storage.getStore() ?? {};
}

/** Runs `body` with the fields added to those already in force. */
export function withLogContext<T>(fields: LogContext, body: () => T): T {
  return storage.run({ ...currentLogContext(), ...fields }, body);
}

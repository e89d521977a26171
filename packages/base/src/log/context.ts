import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';

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

/** What follows a call: its fields, and the span that is open in it or the caller's. */
export interface CallScope {
  readonly fields: LogContext;
  readonly trace: Context;
}

const storage = new AsyncLocalStorage<CallScope>();
const outside: CallScope = { fields: {}, trace: ROOT_CONTEXT };

export function currentScope(): CallScope {
  return storage.getStore() ?? outside;
}

export function withScope<T>(scope: CallScope, body: () => T): T {
  return storage.run(scope, body);
}

/** What runs in the scope that holds now, for events that a socket brings and that know of no call. */
export function bindScope(): <T>(body: () => T) => T {
  const scope = currentScope();
  return (body) => storage.run(scope, body);
}

export function currentLogContext(): LogContext {
  return currentScope().fields;
}

/** Runs `body` with the fields added to those already in force. */
export function withLogContext<T>(fields: LogContext, body: () => T): T {
  const scope = currentScope();
  return storage.run({ ...scope, fields: { ...scope.fields, ...fields } }, body);
}

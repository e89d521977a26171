/** What a worker says of itself in answer to a heartbeat. */
import { QueryError } from '@svc/base';
import { type ReadVersions, readVersions } from '../wire/task-codec.js';

export interface WorkerFacts {
  /** Of its process: another after each start. */
  readonly bootId: string;
  readonly version: string;
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  readonly isDraining: boolean;
}

/** Names that a newer worker may add to. */
export interface FactsOnWire {
  readonly boot: string;
  readonly version: string;
  readonly newest: number;
  readonly oldest: number;
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  readonly draining: boolean;
}

export function writeFacts({
  bootId,
  isDraining,
  ...facts
}: WorkerFacts): FactsOnWire & Record<string, unknown> {
  return { ...facts, ...readVersions, boot: bootId, draining: isDraining };
}

export type KnownFacts = WorkerFacts & { readonly reads: ReadVersions };

/** Throws EXECUTOR_LOST. */
export function readFacts(claims: Readonly<Record<string, unknown>>): KnownFacts {
  const { draining } = claims;
  const text = (name: keyof FactsOnWire): string => {
    const value = claims[name];
    if (typeof value !== 'string' || value.length === 0 || value.length > 128) throw notFacts(name);
    return value;
  };
  const count = (name: keyof FactsOnWire): number => {
    const value = claims[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw notFacts(name);
    return value;
  };
  return {
    bootId: text('boot'),
    version: text('version'),
    reads: { newest: count('newest'), oldest: count('oldest') },
    slots: count('slots'),
    running: count('running'),
    waiting: count('waiting'),
    isDraining: draining === true,
  };
}

function notFacts(name: string): QueryError {
  return new QueryError('EXECUTOR_LOST', `What it says of itself has no valid ${name}.`);
}

import { QueryError } from '@svc/base';
import { executionPlaces, type SessionSettings } from '../identity/session-settings.js';

export interface SessionLimits {
  readonly queryTimeoutMs: number;
  readonly maxResultBytes: number;
}

/**
 * SET and RESET: the time zone and the `svc.*` options, which the coordinator answers. `timezone` must have been
 * checked by the engine already; the limits may only be lowered.
 */
export function withSetting(
  settings: SessionSettings,
  name: string,
  value: string,
  limits: SessionLimits,
): SessionSettings {
  switch (name) {
    case 'timezone':
      return { ...settings, timeZone: value };
    case 'svc.query_timeout_secs': {
      const ms = Math.round(numberFrom(0.001, name, value) * 1000);
      if (ms > limits.queryTimeoutMs) throw above(name, ms / 1000, limits.queryTimeoutMs / 1000);
      return { ...settings, queryTimeoutMs: ms };
    }
    case 'svc.max_result_bytes': {
      const bytes = Math.floor(numberFrom(1, name, value));
      if (bytes > limits.maxResultBytes) throw above(name, bytes, limits.maxResultBytes);
      return { ...settings, maxResultBytes: bytes };
    }
    case 'svc.execution':
      return { ...settings, execution: placeFrom(value) };
    default:
      throw unknownOption(name);
  }
}

export function withoutSetting(
  settings: SessionSettings,
  name: string,
  defaults: SessionSettings,
): SessionSettings {
  switch (name) {
    case 'timezone':
      return { ...settings, timeZone: defaults.timeZone };
    case 'svc.query_timeout_secs':
      return { ...settings, queryTimeoutMs: undefined };
    case 'svc.max_result_bytes':
      return { ...settings, maxResultBytes: undefined };
    case 'svc.execution':
      return { ...settings, execution: defaults.execution };
    default:
      throw unknownOption(name);
  }
}

function placeFrom(value: string): SessionSettings['execution'] {
  const place = executionPlaces.find((each) => each === value.trim().toLowerCase());
  if (place === undefined)
    throw new QueryError(
      'INVALID_ARGUMENT',
      `svc.execution must be one of ${executionPlaces.join(', ')}, not ${JSON.stringify(value.slice(0, 64))}.`,
    );
  return place;
}

function numberFrom(minimum: number, name: string, value: string): number {
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number) || number < minimum) {
    throw new QueryError(
      'INVALID_ARGUMENT',
      `${name} must be a number of at least ${minimum}, not ${JSON.stringify(value.slice(0, 64))}.`,
    );
  }
  return number;
}

function above(name: string, value: number, limit: number): QueryError {
  return new QueryError('INVALID_ARGUMENT', `${name} may be at most ${limit} here, not ${value}.`);
}

function unknownOption(name: string): QueryError {
  return new QueryError(
    'INVALID_ARGUMENT',
    `There is no session option ${name}; there are timezone, svc.query_timeout_secs, svc.max_result_bytes and svc.execution.`,
  );
}

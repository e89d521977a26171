import { currentLogContext } from './context.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof levels)[number];

/** Values a log record may carry besides the context: never a secret, a token, a signed URL or a row of data. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** A logger for another part of the service; `target` is the record's `target` field. */
  child(target: string): Logger;
}

export interface LoggerOptions {
  readonly write: (line: string) => void;
  readonly filter: LogFilter;
  readonly now?: () => Date;
}

/** The level per target: a default, and overrides by target prefix. */
export interface LogFilter {
  readonly defaultLevel: LogLevel | 'off';
  readonly overrides: ReadonlyMap<string, LogLevel | 'off'>;
}

/**
 * Reads a RUST_LOG-style value (spec section 2.7): `info`, or `warn,svc::lake=debug`. Unknown levels fall back to
 * `info`, so that a typing error never silences the service.
 */
export function parseLogFilter(text: string | undefined): LogFilter {
  let defaultLevel: LogLevel | 'off' = 'info';
  const overrides = new Map<string, LogLevel | 'off'>();
  for (const part of (text ?? '').split(',')) {
    const [left, right] = part.trim().split('=', 2);
    if (right !== undefined && left) overrides.set(left, toLevel(right));
    else if (left) defaultLevel = toLevel(left);
  }
  return { defaultLevel, overrides };
}

function toLevel(text: string): LogLevel | 'off' {
  const lower = text.toLowerCase();
  if (lower === 'off') return 'off';
  return levels.find((level) => level === lower) ?? 'info';
}

function isEnabled(filter: LogFilter, target: string, level: LogLevel): boolean {
  let best = filter.defaultLevel;
  let bestLength = -1;
  for (const [prefix, value] of filter.overrides) {
    const matches = target === prefix || target.startsWith(`${prefix}::`);
    if (matches && prefix.length > bestLength) {
      best = value;
      bestLength = prefix.length;
    }
  }
  return best !== 'off' && levels.indexOf(level) >= levels.indexOf(best);
}

/** Structured records of section 6.2, one JSON object per line. The caller's fields never replace the fixed ones. */
export function createLogger(target: string, options: LoggerOptions): Logger {
  const now = options.now ?? (() => new Date());
  return {
    log(level, message, fields) {
      if (!isEnabled(options.filter, target, level)) return;
      const record = {
        ...fields,
        timestamp: now().toISOString(),
        level,
        target,
        message,
        ...currentLogContext(),
      };
      options.write(`${JSON.stringify(record)}\n`);
    },
    child: (name) => createLogger(name, options),
  };
}

/** A logger that drops everything, for tests and libraries. */
export const silentLogger: Logger = { log: () => undefined, child: () => silentLogger };

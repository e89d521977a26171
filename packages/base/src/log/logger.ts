import { currentLogContext } from './context.js';
import { jsonLine } from './json-line.js';
import { boundedText } from './safe-text.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof levels)[number];

/** Values a log record may carry besides the context: never a secret, a token, a signed URL or a row of data. */
export type LogFields = Readonly<Record<string, LogValue | undefined>>;
type LogValue = string | number | bigint | boolean;

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
 * Reads a RUST_LOG-style value (spec section 2.7): `info`, or `warn,svc::lake=debug`. A target alone switches on
 * everything below it. An unknown level reads as `info`, so that a typing error never silences the service.
 */
export function parseLogFilter(text: string | undefined): LogFilter {
  let defaultLevel: LogLevel | 'off' = 'info';
  const overrides = new Map<string, LogLevel | 'off'>();
  for (const part of (text ?? '').split(',')) {
    const [left = '', right] = part.split('=', 2).map((side) => side.trim());
    const level = toLevel(left);
    if (left === '') continue;
    if (right !== undefined) overrides.set(left, toLevel(right) ?? 'info');
    else if (level !== undefined) defaultLevel = level;
    else overrides.set(left, 'trace');
  }
  return { defaultLevel, overrides };
}

function toLevel(text: string): LogLevel | 'off' | undefined {
  const lower = text.toLowerCase();
  return lower === 'off' ? 'off' : levels.find((level) => level === lower);
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

/** Longer texts are cut: one record stays one readable line. */
const maxTextLength = 8_192;

/**
 * Structured records of section 6.2, one JSON object per line. The fixed fields come first and win over the context,
 * the context over the caller's fields. Any text is safe: it cannot end the line or steer a terminal.
 */
export function createLogger(target: string, options: LoggerOptions): Logger {
  const now = options.now ?? (() => new Date());
  return {
    log(level, message, fields) {
      if (!isEnabled(options.filter, target, level)) return;
      const fixed = { timestamp: now().toISOString(), level, target, message };
      const record = new Map<string, unknown>();
      for (const source of [fixed, currentLogContext(), fields ?? {}]) {
        for (const [name, value] of Object.entries(source)) {
          if (value !== undefined && !record.has(name)) record.set(name, loggable(value));
        }
      }
      options.write(`${jsonLine(Object.fromEntries(record))}\n`);
    },
    child: (name) => createLogger(name, options),
  };
}

function loggable(value: LogValue): string | number | boolean {
  if (typeof value === 'string') return boundedText(value, maxTextLength);
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** A logger that drops everything, for tests and libraries. */
export const silentLogger: Logger = { log: () => undefined, child: () => silentLogger };

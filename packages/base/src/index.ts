export { abortable, delay, type LinkedAbort, linkAbort, throwIfAborted } from './async/abort.js';
export {
  type ErrorCategory,
  type ErrorCode,
  type ErrorCodeInfo,
  errorCodes,
  type GrpcStatusName,
} from './errors/codes.js';
export { QueryError, type QueryErrorOptions, type SerializedError } from './errors/query-error.js';
export { currentLogContext, type LogContext, withLogContext } from './log/context.js';
export {
  createLogger,
  type LogFields,
  type LogFilter,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  parseLogFilter,
  silentLogger,
} from './log/logger.js';

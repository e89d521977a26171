export { abortable, delay, type LinkedAbort, linkAbort, throwIfAborted } from './async/abort.js';
export { type CircuitBreaker, createCircuitBreaker } from './async/circuit-breaker.js';
export { configurationPage } from './config/configuration-page.js';
export { isLoopbackAddress, isOpenHttp, signInMode } from './config/cross-check.js';
export { type ProcessEnvironment, readProcessEnvironment } from './config/environment.js';
export { type ConfigSources, loadConfig } from './config/load-config.js';
export type { Config } from './config/registry.js';
export { parseTomlDocument } from './config/toml-file.js';
export { formatBytes } from './config/value-types.js';
export {
  type ErrorCategory,
  type ErrorCode,
  type ErrorCodeInfo,
  errorCodes,
  type GrpcStatusName,
} from './errors/codes.js';
export { errorsPage } from './errors/errors-page.js';
export { QueryError, type QueryErrorOptions, type SerializedError } from './errors/query-error.js';
export { bindScope, currentLogContext, type LogContext, withLogContext } from './log/context.js';
export { outgoingCorrelation, withCorrelation } from './log/correlation.js';
export { errorFields } from './log/error-fields.js';
export { jsonLine } from './log/json-line.js';
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
export { boundedText, redactSecrets } from './log/safe-text.js';
export type { BreakerState, IdentityOperation, StatementType } from './metrics/labels.js';
export { createMetrics, type Metrics, metricsContentType } from './metrics/metrics.js';
export { hasBearerForm } from './network/bearer-form.js';
export { type ClientAddress, createClientAddress } from './network/client-address.js';
export { describeSpan, type OpenSpan, openSpan, withSpan } from './telemetry/span.js';

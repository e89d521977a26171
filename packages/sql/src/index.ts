export type { SqlParser } from './engine-interface.js';
export {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from './json/lossless.js';
export type {
  ColumnPath,
  ComparisonOperator,
  Literal,
  ScanFilter,
  ScanRequest,
} from './scan/scan-request.js';
export { classify } from './statements/classify.js';
export { refusalOf } from './statements/refusals.js';
export type {
  LikePattern,
  RefusedStatement,
  ShowCatalogs,
  ShowSchemas,
  ShowTables,
  Statement,
  StatementType,
} from './statements/statement.js';
export { quoteIdentifier, quoteString } from './text/literals.js';
export { type StatementText, splitStatements } from './text/split.js';

export type { SqlParser } from './engine-interface.js';
export type {
  ColumnPath,
  ComparisonOperator,
  Literal,
  ScanFilter,
  ScanRequest,
} from './scan/scan-request.js';

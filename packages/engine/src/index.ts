export type {
  DescribeRequest,
  EngineLease,
  EngineLimits,
  EngineMessage,
  EnginePool,
  EnginePoolStats,
  EngineProfile,
  EngineProgress,
  EngineQuery,
  EngineResult,
  EngineTableName,
  LeaseRequest,
  ParquetRead,
  ParquetReadChunk,
  ParquetReadColumn,
  ParquetReadFile,
  StatementDescription,
} from './api.js';
export { MessageCheck } from './arrow/message-check.js';
export { collectRows, type ResultRow, type ResultValue, readArrowSchema } from './arrow/result-rows.js';
export type { ArrowField } from './arrow/types.js';
export { supportedDuckDbVersion } from './capi/library.js';
export { createInProcessPool, type InProcessPoolOptions } from './instance/in-process-pool.js';
export { createHostPool } from './pool/host-pool.js';
export type { HostPoolOptions, LaneOptions } from './pool/pool-options.js';
export { SpoolBudget } from './spool/spool-budget.js';
export { SpoolFile } from './spool/spool-file.js';

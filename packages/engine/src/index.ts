export type {
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
  StatementDescription,
} from './api.js';

export { type EnvironmentParts, openRemoteEnvironment } from './environment/remote-environment.js';
export {
  type EnvironmentDependencies,
  environmentOf,
  type FragmentOfStores,
} from './environment/store-environment.js';
export { createTableStaging, type TableStaging } from './environment/table-staging.js';
export { encodeFrame, type Frame, readFrames } from './function/frames.js';
export {
  functionProtocolVersion,
  type InvocationOrder,
  type InvocationPayload,
  type InvocationSummary,
  maxPayloadBytes,
  type OrderReference,
  parsePart,
  parseSummary,
  type SpooledPart,
} from './function/invocation.js';
export { packOrder, readSealingKey, type SealingKey, seal } from './function/sealing.js';
export {
  type FragmentEnvironment,
  queryTimedOut,
  resultTooLarge,
  type StagedTable,
} from './leased-fragment.js';
export {
  type FileToRead,
  type FragmentFiles,
  type FragmentInput,
  type FragmentJoinKeys,
  type FragmentKey,
  type FragmentLane,
  type FragmentLimits,
  type FragmentRequest,
  type FragmentRows,
  type FragmentScan,
  type FragmentStatistics,
  type FragmentTable,
  type FragmentView,
  fragmentProtocolVersion,
  type InputPart,
  type InputRows,
  type WholeColumns,
} from './request.js';
export { type FragmentResult, runFragment } from './runtime.js';
export { AnswerCheck, type ArrowParts, answeredError, executorLost, noPlace } from './splits/answer-check.js';
export { createLocalExecutor } from './splits/local-executor.js';
export { runSplits } from './splits/run-splits.js';
export type {
  FragmentExecutor,
  FragmentSplit,
  FragmentTask,
  SplitEvent,
  SplitRequest,
  SplitRun,
} from './splits/split-task.js';
export { engineType } from './views/engine-type.js';
export { sessionStatements } from './views/session-sql.js';
export {
  type EngineColumn,
  engineColumns,
  fileCallSql,
  type PlacedFile,
  qualified,
  scanViewSql,
  stubFileSql,
  stubViewSql,
  viewSql,
} from './views/view-sql.js';
export { decodeEventHeader, type EventHeader, encodeEventHeader } from './wire/event-codec.js';
export { remoteTask } from './wire/remote-task.js';
export {
  decodeTask,
  encodeTask,
  maxTaskBytes,
  type ReadVersions,
  type RemoteTask,
  readsOurTasks,
} from './wire/task-codec.js';
export {
  type CoordinatorFrame,
  decodeWorkerFrame,
  encodeCoordinatorFrame,
  encodeWorkerFrame,
  type WorkerFrame,
} from './worker/frames.js';
export { callKey, type SigningOptions, signHeartbeat, signTask, verifyFacts } from './worker/signature.js';
export {
  createWorkerDoor,
  heartbeatAction,
  type TaskOutcome,
  type WorkerDoor,
  type WorkerDoorOptions,
} from './worker/worker-door.js';
export { type KnownFacts, readFacts } from './worker/worker-facts.js';
export { leftOutSql } from './write/copy-sql.js';
export {
  type WriteOptions,
  type WrittenFile,
  type WrittenFragment,
  writeFragment,
} from './write/write-fragment.js';
export {
  defaultWriteSettings,
  type TargetColumn,
  type TargetPartition,
  type WriteRequest,
  type WriteTarget,
} from './write/write-target.js';

export type { Coordinator, CoordinatorOptions, Listener } from './coordinator.js';
export { openEmbedded } from './embedded/embedded.js';
export type {
  EmbeddedOptions,
  EmbeddedResult,
  EmbeddedRunOptions,
  EmbeddedService,
} from './embedded/embedded-service.js';
export {
  createLambdaExecutor,
  type LambdaExecutor,
  type LambdaExecutorOptions,
} from './executors/lambda/lambda-executor.js';
export { openLambdaExecutor } from './executors/lambda/open-lambda-executor.js';
export { parseWorkerAddress } from './executors/workers/worker-address.js';
export {
  createWorkerExecutor,
  type WorkerExecutor,
  type WorkerExecutorOptions,
} from './executors/workers/worker-executor.js';
export { openScanLock, type ScanLockOptions } from './identity/lifecycle/open-scan-lock.js';
export type { ScanLock } from './identity/lifecycle/scan-lock.js';
export type { SignInFacts } from './identity/open-identity.js';
export { SessionStore } from './identity/session-store.js';
export { lambdaModel, modelLambdaScan } from './scheduler/lambda-cost.js';
export { maxSplitsPerTask } from './scheduler/split-queue.js';
export { poolOptions } from './service/pool-options.js';
export { LateObjects } from './spool/late-objects.js';
export { startCoordinator } from './start-coordinator.js';

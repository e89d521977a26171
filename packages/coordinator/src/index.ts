export type { Coordinator, CoordinatorOptions, Listener } from './coordinator.js';
export { openEmbedded } from './embedded/embedded.js';
export type {
  EmbeddedOptions,
  EmbeddedResult,
  EmbeddedRunOptions,
  EmbeddedService,
} from './embedded/embedded-service.js';
export type { SignInFacts } from './identity/open-identity.js';
export { startCoordinator } from './start-coordinator.js';

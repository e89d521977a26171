export { type Coordinator, type CoordinatorOptions, type Listener, startCoordinator } from './coordinator.js';

import type { Coordinator, CoordinatorOptions } from './coordinator.js';

/**
 * Starts what listeners need: identity, engine hosts, catalog, caches. Throws CONFIGURATION_ERROR. The listeners'
 * libraries are loaded here and not with the package: an embedded session has no use for them and starts without.
 */
export async function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const coordinator = await import('./coordinator.js');
  return await coordinator.startCoordinator(options);
}

import path from 'node:path';

interface PortsModule {
  freeNeighbours(count: number): Promise<readonly number[]>;
}

const ports = path.resolve(import.meta.dirname, '../../../../scripts/support/free-ports.mjs');

/** Ports of loopback that nobody listens on, all different. They may be used, left, and used again. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const { freeNeighbours }: PortsModule = await import(ports);
  return await freeNeighbours(count);
}

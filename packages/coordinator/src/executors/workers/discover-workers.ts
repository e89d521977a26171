import { parseWorkerAddress, type WorkerAddress, workerAddress } from './worker-address.js';

export interface DiscoveryOptions {
  /** `host:port`, each a worker. */
  readonly addresses: readonly string[];
  /** `name:port`; each address of the name is a worker. */
  readonly discoveryName: string | undefined;
  /** All addresses of a name. Throws as `dns.lookup`. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
}

/** What answers that a name has no addresses now, as one of a service without running tasks. */
const noAddresses: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/** Those that are written down, and those that the name has now. Throws what resolving throws. */
export async function discoverWorkers(options: DiscoveryOptions): Promise<readonly WorkerAddress[]> {
  const found = [...options.addresses.map(parseWorkerAddress), ...(await addressesOfName(options))];
  return [...new Map(found.map((address) => [address.text, address])).values()];
}

async function addressesOfName({
  discoveryName,
  resolve,
}: DiscoveryOptions): Promise<readonly WorkerAddress[]> {
  if (discoveryName === undefined) return [];
  const { host: name, port } = parseWorkerAddress(discoveryName);
  try {
    return (await resolve(name)).map((host) => workerAddress(host, port, name));
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && noAddresses.has(caught.code)) return [];
    throw caught;
  }
}

import { ByteBudget } from '../byte-budget.js';
import { Latencies } from './latencies.js';

const defaultBytesInFlight = 128 * 1024 * 1024;
const defaultRequests = 32;
/** Servers whose times are remembered; the one that was met first is forgotten first. */
const maxPlaces = 64;

/**
 * What the stores of a service have in common: the bytes of answers that are under way, of all of them together, and how
 * long each server took of late. A store is made whenever a table is loaded, and knows both from the first request on.
 */
export class StorageTraffic {
  readonly budget: ByteBudget;
  /** What a small request takes of the budget, so that requests are bounded too. */
  readonly minShareBytes: number;
  readonly #latencies = new Map<string, Latencies>();

  constructor({ maxBytesInFlight = defaultBytesInFlight, maxRequests = defaultRequests } = {}) {
    this.budget = new ByteBudget(maxBytesInFlight);
    this.minShareBytes = Math.floor(maxBytesInFlight / maxRequests);
  }

  latenciesOf(place: string): Latencies {
    const known = this.#latencies.get(place);
    if (known !== undefined) return known;
    const [oldest] = this.#latencies.keys();
    if (this.#latencies.size >= maxPlaces && oldest !== undefined) this.#latencies.delete(oldest);
    const latencies = new Latencies();
    this.#latencies.set(place, latencies);
    return latencies;
  }
}

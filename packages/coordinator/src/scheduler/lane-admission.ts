import type { FragmentLane } from '@svc/fragment-fn';
import { Admission, type AdmissionTicket } from './admission.js';

export interface LaneAdmissionOptions {
  /** Places for queries that read tables (query.max_concurrent). */
  readonly queryPlaces: number;
  /** Places for statements without tables: fewer than the small lane has hosts, so that planning always finds one. */
  readonly smallPlaces: number;
  /** Of each lane. */
  readonly maxQueued: number;
  readonly queueTimeoutMs: number;
}

/** Admission by lane: however many large queries run or sleep, a statement without tables does not wait for them. */
export class LaneAdmission {
  readonly #lanes: Readonly<Record<FragmentLane, Admission>>;

  constructor({ queryPlaces, smallPlaces, maxQueued, queueTimeoutMs }: LaneAdmissionOptions) {
    const lane = (maxConcurrent: number) => new Admission({ maxConcurrent, maxQueued, queueTimeoutMs });
    this.#lanes = { query: lane(queryPlaces), small: lane(smallPlaces) };
  }

  /** Throws as `Admission.enter` does. */
  async enter(lane: FragmentLane, signal: AbortSignal): Promise<AdmissionTicket> {
    return await this.#lanes[lane].enter(signal);
  }

  get queued(): number {
    return this.#lanes.query.queued + this.#lanes.small.queued;
  }

  drain(): void {
    this.#lanes.query.drain();
    this.#lanes.small.drain();
  }

  throwIfDraining(): void {
    this.#lanes.query.throwIfDraining();
  }
}

/** How long requests took of late, and when one is late enough to be asked a second time. */

const samplesPerKind = 64;
/** With fewer samples nothing is known, and only a request that is late by any measure is asked again. */
const enoughSamples = 8;
const unknown: Lateness = { silenceMs: 1000, totalMs: 10_000 };
const least: Lateness = { silenceMs: 40, totalMs: 1000 };
const most: Lateness = { silenceMs: 5000, totalMs: 60_000 };
/** A request is late that takes, or is silent for, this many times what nine of ten do. */
const latenessFactor = 2;
/** Second requests per request, in the long run. */
const hedgesPerRequest = 0.04;
/** Second requests that may be sent in a row after a quiet time. */
const maxSavedHedges = 8;
const savedAtStart = 2;

/** Times of a request: the longest without a byte of the answer, and all of it. */
export interface Lateness {
  readonly silenceMs: number;
  readonly totalMs: number;
}

interface Ring {
  readonly samples: Lateness[];
  next: number;
}

/**
 * Requests are compared with their like only: a tail of 64 KB is late long before a piece of 8 MB is. What a busy network
 * takes long for, but sends steadily, is not late.
 */
export class Latencies {
  readonly #kinds = new Map<string, Ring>();
  #savedHedges = savedAtStart;
  #overloadedUntilMs = 0;

  observe(kind: string, sample: Lateness): void {
    const ring = this.#kinds.get(kind) ?? { samples: [], next: 0 };
    this.#kinds.set(kind, ring);
    ring.samples[ring.next] = sample;
    ring.next = (ring.next + 1) % samplesPerKind;
  }

  /** What makes an answer late enough to be asked for a second time: either of the two. */
  lateAfter(kind: string): Lateness {
    const samples = this.#kinds.get(kind)?.samples ?? [];
    if (samples.length < enoughSamples) return unknown;
    const limit = (time: keyof Lateness): number => {
      const sorted = samples.map((sample) => sample[time]).sort((a, b) => a - b);
      const slow = sorted[Math.floor(sorted.length * 0.9)] ?? most[time];
      return Math.min(Math.max(slow * latenessFactor, least[time]), most[time]);
    };
    return { silenceMs: limit('silenceMs'), totalMs: limit('totalMs') };
  }

  /** A request was sent: a part of a second one is earned. */
  noteRequest(): void {
    this.#savedHedges = Math.min(this.#savedHedges + hedgesPerRequest, maxSavedHedges);
  }

  /** True when a second request may be sent now; it is then counted. */
  takeHedge(nowMs: number): boolean {
    if (this.#savedHedges < 1 || nowMs < this.#overloadedUntilMs) return false;
    this.#savedHedges -= 1;
    return true;
  }

  noteOverload(nowMs: number): void {
    this.#overloadedUntilMs = nowMs + 10_000;
  }
}

/** The kind of a request for so many bytes: 64 KiB and less, then by powers of four. */
export function kindOfSize(bytes: number): string {
  return `4^${Math.ceil(Math.log(Math.max(bytes / (64 * 1024), 1)) / Math.log(4))}`;
}

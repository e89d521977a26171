/** How long requests took of late, and when one is late enough to be asked a second time. */

const samplesPerKind = 64;
/** With fewer samples nothing is known, and only a request that is late by any measure is asked again. */
const enoughSamples = 8;
const unknownDelayMs = 500;
/** Of a server of which nothing is known: 4 MB/s. */
const unknownBytesPerMs = 4_000;
const minDelayMs = 40;
const maxDelayMs = 5000;
/** A request that takes this many times what nine of ten take is late. */
const latenessFactor = 3;
/** Second requests per request, in the long run. */
const hedgesPerRequest = 0.04;
/** Second requests that may be sent in a row after a quiet time. */
const maxSavedHedges = 8;
const savedAtStart = 2;

/** Requests are compared with their like only: a tail of 64 KB is late long before a piece of 8 MB is. */
export class Latencies {
  readonly #kinds = new Map<string, { readonly samples: number[]; next: number }>();
  #savedHedges = savedAtStart;
  #overloadedUntilMs = 0;

  observe(kind: string, ms: number): void {
    const ring = this.#kinds.get(kind) ?? { samples: [], next: 0 };
    this.#kinds.set(kind, ring);
    ring.samples[ring.next] = ms;
    ring.next = (ring.next + 1) % samplesPerKind;
  }

  /** How long to wait for an answer before it is asked for a second time. */
  hedgeAfterMs(kind: string, bytes: number): number {
    const samples = this.#kinds.get(kind)?.samples ?? [];
    if (samples.length < enoughSamples) return unknownDelayMs + bytes / unknownBytesPerMs;
    const sorted = [...samples].sort((a, b) => a - b);
    const slow = sorted[Math.floor(sorted.length * 0.9)] ?? maxDelayMs;
    return Math.min(Math.max(slow * latenessFactor, minDelayMs), maxDelayMs);
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

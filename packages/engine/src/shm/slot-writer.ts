import { mapFile, type SharedMapping } from './shared-mapping.js';
import type { SlotLayout } from './slot-layout.js';

/** The writing side of the ring, in the host: which slots are free. The reader gives slots back as credits. */
export class SlotWriter {
  readonly layout: SlotLayout;
  readonly #mapping: SharedMapping;
  /** A stack, so that the same few slots are used again and the others are never touched. */
  readonly #free: number[];
  #held = new Set<number>();

  constructor(fd: number, layout: SlotLayout) {
    this.layout = layout;
    this.#mapping = mapFile(fd, layout.slotBytes * layout.slotCount);
    this.#free = Array.from({ length: layout.slotCount }, (_, index) => layout.slotCount - 1 - index);
  }

  /** Forgets which slots the last result holds: those stay taken until credited, beside the new result's share. */
  beginResult(): void {
    this.#held = new Set();
  }

  /** A slot for the current result, or undefined while it has its share or none is free. */
  tryAcquire(): number | undefined {
    if (this.#held.size >= this.layout.slotsPerResult) return undefined;
    const slot = this.#free.pop();
    if (slot !== undefined) this.#held.add(slot);
    return slot;
  }

  /** Page-aligned. */
  bytesOf(slot: number): Buffer {
    const start = slot * this.layout.slotBytes;
    return this.#mapping.bytes.subarray(start, start + this.layout.slotBytes);
  }

  /** The reader has given the slot back, or it was never sent. */
  release(slot: number): void {
    this.#held.delete(slot);
    this.#free.push(slot);
  }
}

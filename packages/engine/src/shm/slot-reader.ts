import { mapFile, type SharedMapping } from './shared-mapping.js';
import { mappingBytes, type SlotLayout } from './slot-layout.js';

/**
 * The reading side of the ring, in the parent. A slot that the host announced belongs to the reader until
 * `release`, which gives the credit back; after `detach` (the host is gone) a release only frees its memory.
 */
export class SlotReader {
  readonly layout: SlotLayout;
  readonly #mapping: SharedMapping;
  readonly #taken = new Set<number>();
  #credit: ((slot: number) => void) | undefined;

  constructor(fd: number, layout: SlotLayout, credit: (slot: number) => void) {
    this.layout = layout;
    this.#mapping = mapFile(fd, mappingBytes(layout));
    this.#credit = credit;
  }

  /** Slots that readers hold, of this and of earlier results. */
  get takenCount(): number {
    return this.#taken.size;
  }

  /** False when the host names a slot that it cannot own: the host is broken. */
  take(slot: number, byteLength: number): boolean {
    const isValid =
      Number.isInteger(slot) && slot >= 0 && slot < this.layout.slotCount && !this.#taken.has(slot);
    if (!isValid || byteLength > this.layout.slotBytes) return false;
    this.#taken.add(slot);
    return true;
  }

  /** The bytes in place; valid until `release(slot)`. */
  view(slot: number, byteLength: number): Buffer {
    const start = slot * this.layout.slotBytes;
    return this.#mapping.bytes.subarray(start, start + byteLength);
  }

  release(slot: number): void {
    if (!this.#taken.delete(slot)) return;
    if (this.#credit) this.#credit(slot);
    else this.#discard(slot);
  }

  /** The host has ended: its free slots give their memory back now, taken ones when they are released. */
  detach(): void {
    if (!this.#credit) return;
    this.#credit = undefined;
    for (let slot = 0; slot < this.layout.slotCount; slot++) if (!this.#taken.has(slot)) this.#discard(slot);
  }

  #discard(slot: number): void {
    this.#mapping.discard(slot * this.layout.slotBytes, this.layout.slotBytes);
  }
}

/**
 * How both sides divide the shared mapping. More slots exist than one result may hold, because readers may still
 * sit on slots of earlier results; untouched slots cost no memory.
 */
export interface SlotLayout {
  readonly slotBytes: number;
  /** Slots that one result may hold at a time. */
  readonly slotsPerResult: number;
  readonly slotCount: number;
  /**
   * The largest message body: what clients take in one message. One above a slot is copied together in the parent's
   * memory.
   */
  readonly maxBodyBytes: number;
}

export const defaultSlotLayout: SlotLayout = {
  slotBytes: 2 << 20,
  slotsPerResult: 6,
  slotCount: 18,
  maxBodyBytes: 16 << 20,
};

export function mappingBytes(layout: SlotLayout): number {
  return layout.slotBytes * layout.slotCount;
}

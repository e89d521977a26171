import type { BelievedSize, HeadWithTail, ObjectStore, ReadOptions } from './object-store.js';

/** See ObjectStore.headWithTail; of a store that has none, what `head` says. */
export async function headWithTail(
  store: ObjectStore,
  location: string,
  believed: BelievedSize,
  options?: ReadOptions,
): Promise<HeadWithTail> {
  const found = await store.headWithTail?.(location, believed, options);
  return found ?? { info: await store.head(location, options) };
}

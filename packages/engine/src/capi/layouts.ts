/**
 * Layouts of the C structs that cross the boundary, for 64-bit platforms: the Arrow C data interface
 * (https://arrow.apache.org/docs/format/CDataInterface.html) and duckdb.h of the pinned version. `layouts.test.ts`
 * checks each against the engine itself.
 */

/** Byte offsets inside `struct ArrowSchema`. */
export const arrowSchemaLayout = {
  size: 72,
  format: 0,
  name: 8,
  metadata: 16,
  flags: 24,
  childCount: 32,
  children: 40,
  dictionary: 48,
  release: 56,
  privateData: 64,
} as const;

/** Bits of `ArrowSchema.flags`. */
export const arrowSchemaFlags = { dictionaryOrdered: 1, nullable: 2, mapKeysSorted: 4 } as const;

/** Byte offsets inside `struct ArrowArray`. */
export const arrowArrayLayout = {
  size: 80,
  length: 0,
  nullCount: 8,
  offset: 16,
  bufferCount: 24,
  childCount: 32,
  buffers: 40,
  children: 48,
  dictionary: 56,
  release: 64,
  privateData: 72,
} as const;

/** `duckdb_result`: six words, passed by value to `duckdb_fetch_chunk` and by address elsewhere. */
export const duckDbResultLayout = { size: 48, internalData: 40 } as const;

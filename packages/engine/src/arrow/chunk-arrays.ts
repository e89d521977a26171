/** `struct ArrowArray` trees in memory, read into flat tables of numbers that follow an ArrayPlan. */
import { QueryError } from '@svc/base';
import { arrowArrayLayout as layout } from '../capi/layouts.js';
import { type Address, window } from '../capi/memory.js';
import type { ArrayPlan } from './array-plan.js';

/** Columns of the table; one row per plan node. */
export const column = {
  length: 0,
  nullCount: 1,
  offset: 2,
  buffer0: 3,
  buffer1: 4,
  buffer2: 5,
  children: 6,
  dictionary: 7,
  buffers: 8,
} as const;
export const columnsPerNode = 9;

const word = 8;
const structWords = layout.size / word;
const structsPerWindow = Math.floor(window.maxBytes / layout.size);

/** The arrays of one chunk. `table` is valid until the root array is released. */
export interface ChunkArrays {
  readonly rowCount: number;
  readonly table: Float64Array;
}

/** Reads the arrays below a root array (the struct of a chunk's columns). */
export function readChunkArrays(plan: ArrayPlan, root: Address): ChunkArrays {
  window.load(root, layout.size);
  const rowCount = window.word(layout.length / word);
  const childCount = window.word(layout.childCount / word);
  const children = window.word(layout.children / word);
  if (childCount !== plan.columns.length || window.word(layout.offset / word) !== 0)
    throw unexpected('a chunk of another shape');
  const table = new Float64Array(plan.nodes.length * columnsPerNode);
  readChildren(plan, table, plan.columns, children);
  return { rowCount, table };
}

/** Reads one array on its own, as the only column of a plan. */
export function readSingleArray(plan: ArrayPlan, array: Address): ChunkArrays {
  const table = new Float64Array(plan.nodes.length * columnsPerNode);
  readStructs(plan, table, plan.columns, 0, 1, array);
  finishNodes(plan, table, plan.columns);
  const first = (plan.columns[0] ?? 0) * columnsPerNode;
  return { rowCount: table[first + column.length] ?? 0, table };
}

function readChildren(
  plan: ArrayPlan,
  table: Float64Array,
  indexes: readonly number[],
  pointers: Address,
): void {
  const count = indexes.length;
  if (count === 0) return;
  const addresses = readPointers(pointers, count);
  // The engine keeps siblings in one vector: one read serves them all. Anything else is read one by one.
  let from = 0;
  while (from < count) {
    const start = addresses[from] ?? 0;
    let to = from + 1;
    while (to < count && to - from < structsPerWindow && addresses[to] === start + (to - from) * layout.size)
      to += 1;
    readStructs(plan, table, indexes, from, to, start);
    from = to;
  }
  finishNodes(plan, table, indexes);
}

function readPointers(pointers: Address, count: number): Float64Array {
  const addresses = new Float64Array(count);
  const perWindow = window.maxBytes / word;
  for (let from = 0; from < count; from += perWindow) {
    const length = Math.min(perWindow, count - from);
    window.load(pointers + from * word, length * word);
    for (let index = 0; index < length; index++) addresses[from + index] = window.word(index);
  }
  return addresses;
}

/** Reads the structs of `indexes[from..to)`, which lie side by side from `start`. */
function readStructs(
  plan: ArrayPlan,
  table: Float64Array,
  indexes: readonly number[],
  from: number,
  to: number,
  start: Address,
): void {
  window.load(start, (to - from) * layout.size);
  for (let position = from; position < to; position++) {
    const index = indexes[position] ?? 0;
    const node = plan.nodes[index];
    const base = (position - from) * structWords;
    const row = index * columnsPerNode;
    if (
      node === undefined ||
      window.word(base + layout.bufferCount / word) !== node.bufferCount ||
      window.word(base + layout.childCount / word) !== node.children.length
    )
      throw unexpected(`an array of another shape for ${node?.field.type.kind}`);
    table[row + column.length] = window.word(base + layout.length / word);
    table[row + column.nullCount] = window.signedWord(base + layout.nullCount / word);
    table[row + column.offset] = window.word(base + layout.offset / word);
    table[row + column.children] = window.word(base + layout.children / word);
    table[row + column.dictionary] = window.word(base + layout.dictionary / word);
    table[row + column.buffers] = window.word(base + layout.buffers / word);
  }
}

function finishNodes(plan: ArrayPlan, table: Float64Array, indexes: readonly number[]): void {
  for (const index of indexes) {
    const node = plan.nodes[index];
    if (node === undefined) continue;
    const row = index * columnsPerNode;
    if (node.bufferCount > 0) {
      window.load(table[row + column.buffers] ?? 0, node.bufferCount * word);
      for (let buffer = 0; buffer < node.bufferCount; buffer++)
        table[row + column.buffer0 + buffer] = window.word(buffer);
    }
    if (node.children.length > 0) readChildren(plan, table, node.children, table[row + column.children] ?? 0);
  }
}

function unexpected(what: string): QueryError {
  return new QueryError('INTERNAL_ERROR', `The engine answered ${what}.`);
}

/** The compiled loops of ../../assembly/parquet-kernels.ts, and the linear memory that they work in. */
import { readFileSync } from 'node:fs';
import { QueryError } from '@svc/base';

/** A position in the linear memory; 0 is none. */
export type Pointer = number;

/** See the assembly for what each one does. */
export interface Kernels {
  startRuns(state: Pointer, position: Pointer, end: Pointer, width: number): void;
  startBits(state: Pointer, position: Pointer, end: Pointer, count: number): void;
  readNumbers(state: Pointer, target: Pointer, count: number): number;
  largestNumber(state: Pointer): number;
  readFlags(state: Pointer, target: Pointer, count: number): number;
  gather4(positions: Pointer, count: number, dictionary: Pointer, target: Pointer): void;
  gather8(positions: Pointer, count: number, dictionary: Pointer, target: Pointer): void;
  gather16(positions: Pointer, count: number, dictionary: Pointer, target: Pointer): void;
  widen4(source: Pointer, count: number, target: Pointer): void;
  widen8(source: Pointer, count: number, target: Pointer): void;
  widenBigEndian(source: Pointer, count: number, width: number, target: Pointer): void;
  spreadPositions(source: Pointer, flags: Pointer, count: number, target: Pointer): void;
  spreadValues(source: Pointer, flags: Pointer, count: number, width: number, target: Pointer): void;
  withoutMissing(positions: Pointer, count: number): void;
  indexTexts(position: Pointer, end: Pointer, count: number, isText: number, target: Pointer): number;
  appendDictionaryTexts(
    positions: Pointer,
    count: number,
    entries: Pointer,
    offsets: Pointer,
    bytes: Pointer,
  ): number;
  appendPlainTexts(
    state: Pointer,
    count: number,
    flags: Pointer,
    isText: number,
    offsets: Pointer,
    bytes: Pointer,
    limit: number,
  ): number;
  rebaseOffsets(source: Pointer, count: number, target: Pointer): void;
  countFlags(source: Pointer, count: number): number;
  packFlags(source: Pointer, count: number, target: Pointer): number;
}

/** Bytes of a run state. */
export const runStateBytes = 32;
/** What loops may read or write behind the end of a region: they work in whole vectors. */
const slackBytes = 64;
const pageBytes = 65_536;

let compiled: WebAssembly.Module | undefined;
/** A memory that nobody uses: the next reader takes it, because the collector would let it lie for long. */
let idle: LinearMemory | undefined;
const maxIdleBytes = 48 << 20;

/** The kernels with the memory that they work in. One reader at a time: `borrow` it, and give it back. */
export class LinearMemory {
  readonly kernels: Kernels;
  private readonly memory: WebAssembly.Memory;
  /** Sizes of all regions, and the free ones by size. */
  private readonly sizes = new Map<Pointer, number>();
  private readonly free = new Map<number, Pointer[]>();
  private next: Pointer = slackBytes;
  private view: Uint8Array;

  private constructor() {
    compiled ??= new WebAssembly.Module(readFileSync(new URL('./parquet-kernels.wasm', import.meta.url)));
    const { exports } = new WebAssembly.Instance(compiled);
    const { memory, ...kernels } = exports as unknown as Kernels & { readonly memory: WebAssembly.Memory };
    this.kernels = kernels;
    this.memory = memory;
    this.view = new Uint8Array(this.memory.buffer);
  }

  /** A memory without regions. */
  static borrow(): LinearMemory {
    const memory = idle ?? new LinearMemory();
    idle = undefined;
    return memory;
  }

  /** Forgets all regions; they must not be used any more. */
  giveBack(): void {
    this.sizes.clear();
    this.free.clear();
    this.next = slackBytes;
    if (this.memory.buffer.byteLength <= maxIdleBytes) idle = this;
  }

  /** All of the memory; another view after each `allocate`. */
  get bytes(): Uint8Array {
    if (this.view.byteLength !== this.memory.buffer.byteLength)
      this.view = new Uint8Array(this.memory.buffer);
    return this.view;
  }

  /** A region of at least so many bytes, aligned to 64, not cleared. Throws OUT_OF_MEMORY. */
  allocate(byteCount: number): Pointer {
    const size = regionSize(byteCount + slackBytes);
    const reused = this.free.get(size)?.pop();
    if (reused !== undefined) return reused;
    const pointer = this.next;
    const missing = Math.ceil((pointer + size - this.memory.buffer.byteLength) / pageBytes);
    if (missing > 0) this.grow(missing);
    this.next = pointer + size;
    this.sizes.set(pointer, size);
    return pointer;
  }

  /** Gives a region back; nothing for 0. */
  release(pointer: Pointer): void {
    const size = this.sizes.get(pointer);
    if (size === undefined) return;
    const regions = this.free.get(size);
    if (regions === undefined) this.free.set(size, [pointer]);
    else regions.push(pointer);
  }

  /** Bytes that a region can hold; 0 for none. */
  capacityOf(pointer: Pointer): number {
    return (this.sizes.get(pointer) ?? slackBytes) - slackBytes;
  }

  private grow(pages: number): void {
    try {
      this.memory.grow(pages);
    } catch (cause) {
      throw new QueryError(
        'OUT_OF_MEMORY',
        'Pages of a Parquet file take more memory than a query may use.',
        {
          cause,
        },
      );
    }
  }
}

/** Rounded up by a quarter at most, so that few sizes serve all: a region that is given back is soon taken again. */
function regionSize(byteCount: number): number {
  const step = Math.max(64, 2 ** (Math.floor(Math.log2(byteCount)) - 2));
  return Math.ceil(byteCount / step) * step;
}

/** Reads one column's pages into its output, a few thousand rows at a time. */
import { isUtf8 } from 'node:buffer';
import { QueryError } from '@svc/base';
import type { ParquetReadChunk, ParquetReadColumn } from '../api.js';
import type { ColumnOutput } from './column-output.js';
import { type Kernels, type LinearMemory, type Pointer, runStateBytes } from './kernels.js';
import type { Page, PageSource } from './page-source.js';

/** Rows that go through the loops at once: their intermediate numbers stay in the processor's cache. */
export const segmentRows = 8192;
const encodings = { plain: 0, plainDictionary: 2, rle: 3, rleDictionary: 8 } as const;

/** Memory for intermediate results of one segment; columns take turns. */
export interface Scratch {
  readonly dense: Pointer;
  readonly positions: Pointer;
}

export function allocateScratch(memory: LinearMemory): Scratch {
  return { dense: memory.allocate(segmentRows * 16), positions: memory.allocate(segmentRows * 4) };
}

type Values = 'none' | 'plain' | 'dictionary' | 'runs';

export class ColumnReader {
  private readonly memory: LinearMemory;
  private readonly kernels: Kernels;
  private readonly source: PageSource;
  private readonly output: ColumnOutput;
  private readonly scratch: Scratch;
  private readonly kind: ParquetReadColumn['values'];
  /** Run states: of definition levels, and of dictionary positions; of plain values position and end alone. */
  private readonly levels: Pointer;
  private readonly values: Pointer;
  private chunk: ParquetReadChunk | undefined;
  private page: Pointer = 0;
  private pageRows = 0;
  private encoding: Values = 'none';
  private dictionary: Pointer = 0;
  private dictionaryCount = 0;
  /** Of text: the page with the entries that `dictionary` points at, and the longest of them. */
  private entries: Pointer = 0;
  private longestEntry = 0;

  constructor(parts: {
    readonly memory: LinearMemory;
    readonly source: PageSource;
    readonly output: ColumnOutput;
    readonly scratch: Scratch;
    readonly kind: ParquetReadColumn['values'];
  }) {
    this.memory = parts.memory;
    this.kernels = parts.memory.kernels;
    this.source = parts.source;
    this.output = parts.output;
    this.scratch = parts.scratch;
    this.kind = parts.kind;
    this.levels = this.memory.allocate(runStateBytes);
    this.values = this.memory.allocate(runStateBytes);
  }

  /** Reads until the output has `rows`, or texts of `textBytes`, or the column ends; at least one row if there is one. */
  fill(rows: number, textBytes: number): void {
    const { output } = this;
    while (output.rows < rows) {
      if (output.isText && output.rows > 0 && output.textEnd() >= textBytes) return;
      while (this.pageRows === 0) if (!this.nextPage()) return;
      const count = Math.min(rows - output.rows, this.pageRows, segmentRows);
      const done = output.isText ? this.appendTexts(count, textBytes) : this.appendFixed(count);
      output.rows += done;
      this.pageRows -= done;
    }
  }

  private nextPage(): boolean {
    const page = this.source.next(({ kind, uncompressedBytes }) => {
      if (kind === 'dictionary') return this.regionOf('entries', uncompressedBytes);
      return this.regionOf('page', uncompressedBytes);
    });
    if (page === undefined) return false;
    if (page.chunk !== this.chunk) {
      this.chunk = page.chunk;
      this.dictionaryCount = 0;
    }
    if (page.header.kind === 'dictionary') this.startDictionary(page);
    else this.startPage(page);
    return true;
  }

  /** The column's region for a kind of page, made larger where it must be; what it held is not kept. */
  private regionOf(name: 'entries' | 'page' | 'dictionary', byteCount: number): Pointer {
    if (byteCount > this.memory.capacityOf(this[name]) || this[name] === 0) {
      this.memory.release(this[name]);
      this[name] = 0;
      this[name] = this.memory.allocate(byteCount);
    }
    return this[name];
  }

  private startDictionary({ header, chunk, start, end }: Page): void {
    const { kernels } = this;
    const count = header.valueCount;
    if (header.encoding !== encodings.plain && header.encoding !== encodings.plainDictionary)
      this.source.fail(`its dictionary has the encoding ${header.encoding}`);
    // Each entry takes a byte at least, so that no claim makes us take more memory than the page did.
    if (count > end - start) this.source.fail('its dictionary is shorter than it claims');
    this.dictionaryCount = count;
    const { output } = this;
    const target = this.regionOf('dictionary', Math.max(16, count * (output.isText ? 4 : output.width)));
    if (!output.isText) {
      if (count * chunk.valueBytes > end - start)
        this.source.fail('its dictionary is shorter than it claims');
      this.toOutputWidth(chunk, start, count, target);
      return;
    }
    const longest = kernels.indexTexts(start, end, count, Number(this.kind === 'text'), target);
    if (longest === -1) this.source.fail('its dictionary is shorter than it claims');
    if (longest < 0) this.failText();
    this.longestEntry = longest;
    if (this.kind === 'text') this.checkEntries(start, end, count);
  }

  /** Entries stand with their lengths between them: they are validated one behind the other, without these. */
  private checkEntries(start: Pointer, end: Pointer, count: number): void {
    const { memory, kernels } = this;
    const offsets = memory.allocate(2 * 4 * (count + 1));
    const bytes = memory.allocate(end - start);
    try {
      const state = memory.allocate(runStateBytes);
      kernels.startRuns(state, start, end, 0);
      memory.bytes.fill(0, offsets, offsets + 4);
      kernels.appendPlainTexts(state, count, 0, 0, offsets, bytes, end - start);
      memory.release(state);
      const length = new DataView(memory.bytes.buffer).getUint32(offsets + count * 4, true);
      if (!isUtf8(memory.bytes.subarray(bytes, bytes + length))) this.failText();
    } finally {
      memory.release(offsets);
      memory.release(bytes);
    }
  }

  private startPage({ header, chunk, start, end }: Page): void {
    const { kernels } = this;
    this.pageRows = header.valueCount;
    if (header.valueCount === 0) return;
    if (header.repetitionBytes > 0) this.source.fail('a column without lists has repetition levels');
    let position = start;
    if (header.kind === 'data-v2') {
      kernels.startRuns(this.levels, position, position + header.levelBytes, 1);
      position += header.levelBytes;
    } else if (chunk.isNullable) {
      if (header.levelEncoding !== encodings.rle)
        this.source.unsupported(`its definition levels have the encoding ${header.levelEncoding}`);
      const levelsEnd = position + 4 + this.lengthAt(position, end);
      kernels.startRuns(this.levels, position + 4, levelsEnd, 1);
      position = levelsEnd;
    }
    this.startValues(header.encoding, position, end, header.valueCount);
  }

  private startValues(encoding: number, position: Pointer, end: Pointer, count: number): void {
    const { kernels } = this;
    if (encoding === encodings.rleDictionary || encoding === encodings.plainDictionary) {
      this.encoding = 'dictionary';
      // A page of nulls alone may have no bytes here at all.
      const width = position < end ? (this.memory.bytes[position] ?? 0) : 0;
      if (width > 32) this.source.fail(`a dictionary position takes ${width} bits`);
      kernels.startRuns(this.values, Math.min(position + 1, end), end, width);
    } else if (encoding === encodings.plain) {
      this.encoding = 'plain';
      if (this.kind === 'flags') kernels.startBits(this.values, position, end, count);
      else kernels.startRuns(this.values, position, end, 0);
    } else if (encoding === encodings.rle && this.kind === 'flags') {
      this.encoding = 'runs';
      const length = position < end ? this.lengthAt(position, end) : 0;
      kernels.startRuns(this.values, Math.min(position + 4, end), Math.min(position + 4 + length, end), 1);
    } else {
      this.source.unsupported(`its values have the encoding ${encoding}, which the footer does not list`);
    }
  }

  /** The length of 4 bytes that stands in front of levels and of runs. */
  private lengthAt(position: Pointer, end: Pointer): number {
    const length =
      position + 4 <= end ? new DataView(this.memory.bytes.buffer).getUint32(position, true) : -1;
    if (length < 0 || position + 4 + length > end) this.source.fail('its levels are longer than the page');
    return length;
  }

  /** Reads the validity of the next `count` rows, as far as it is not known yet; answers how many have a value. */
  private readValidity(count: number): number {
    const { output, kernels } = this;
    if (output.flags === 0) {
      if (this.chunk?.isNullable === true)
        throw new QueryError('INTERNAL_ERROR', 'A column has unexpected nulls.');
      return count;
    }
    const missing = output.rows + count - output.flagRows;
    if (missing > 0) {
      const target = output.flags + output.flagRows;
      if (this.chunk?.isNullable !== true) this.memory.bytes.fill(1, target, target + missing);
      else if (kernels.readFlags(this.levels, target, missing) < 0)
        this.source.fail('its definition levels end too early');
      output.flagRows += missing;
    }
    return kernels.countFlags(output.flags + output.rows, count);
  }

  private appendFixed(count: number): number {
    const { output, kernels, scratch } = this;
    const present = this.readValidity(count);
    const target = output.values + output.rows * output.width;
    const flags = output.flags + output.rows;
    const hasNulls = present < count;
    if (this.encoding === 'dictionary') {
      const positions = this.readPositions(count, present, flags);
      if (hasNulls) kernels.withoutMissing(positions, count);
      if (output.width === 4) kernels.gather4(positions, count, this.dictionary, target);
      else if (output.width === 8) kernels.gather8(positions, count, this.dictionary, target);
      else kernels.gather16(positions, count, this.dictionary, target);
    } else {
      const dense = hasNulls ? scratch.dense : target;
      if (this.kind === 'flags') {
        if (kernels.readFlags(this.values, dense, present) < 0) this.source.fail('its values end too early');
      } else this.readPlain(present, dense);
      if (hasNulls) kernels.spreadValues(dense, flags, count, output.width, target);
    }
    return count;
  }

  /** Positions of the next `count` rows in the dictionary; those of nulls are missing. */
  private readPositions(count: number, present: number, flags: Pointer): Pointer {
    const { kernels, scratch } = this;
    const dense = present < count ? scratch.dense : scratch.positions;
    if (present > 0) {
      if (kernels.readNumbers(this.values, dense, present) < present)
        this.source.fail('its dictionary positions end too early');
      // Numbers of 32 bits come back signed.
      if (kernels.largestNumber(this.values) >>> 0 >= this.dictionaryCount)
        this.source.fail('a value lies outside of its dictionary');
    }
    // Without any value there may be no dictionary: position 0 is then read from a region that is there all the same.
    if (this.dictionary === 0) this.regionOf('dictionary', 16);
    if (present < count) kernels.spreadPositions(dense, flags, count, scratch.positions);
    return scratch.positions;
  }

  private readPlain(count: number, target: Pointer): void {
    const { chunk } = this;
    if (chunk === undefined) return;
    const view = new DataView(this.memory.bytes.buffer);
    const position = view.getUint32(this.values, true);
    const next = position + count * chunk.valueBytes;
    if (next > view.getUint32(this.values + 4, true)) this.source.fail('its values end too early');
    this.toOutputWidth(chunk, position, count, target);
    view.setUint32(this.values, next, true);
  }

  private toOutputWidth(chunk: ParquetReadChunk, from: Pointer, count: number, target: Pointer): void {
    const { kernels, output, memory } = this;
    if (chunk.isBigEndian) kernels.widenBigEndian(from, count, chunk.valueBytes, target);
    else if (chunk.valueBytes === output.width)
      memory.bytes.copyWithin(target, from, from + count * output.width);
    else if (chunk.valueBytes === 4) kernels.widen4(from, count, target);
    else kernels.widen8(from, count, target);
  }

  /** Appends up to `count` texts; fewer when they would take more than `textBytes` together. */
  private appendTexts(count: number, textBytes: number): number {
    const { output } = this;
    return this.encoding === 'dictionary'
      ? this.appendDictionaryTexts(count, textBytes)
      : this.appendPlainTexts(count, output.makeTextRoom(0), textBytes);
  }

  private appendDictionaryTexts(count: number, textBytes: number): number {
    const { output, kernels } = this;
    const room = Math.max(0, textBytes - output.textEnd());
    const fitting = Math.max(1, Math.min(count, Math.floor(room / Math.max(1, this.longestEntry))));
    const present = this.readValidity(fitting);
    const positions = this.readPositions(fitting, present, output.flags + output.rows);
    output.makeTextRoom(fitting * this.longestEntry);
    const offsets = output.offsets + output.rows * 4;
    kernels.appendDictionaryTexts(positions, fitting, this.dictionary, offsets, output.textBytes);
    return fitting;
  }

  private appendPlainTexts(count: number, capacity: number, textBytes: number): number {
    const { output, kernels, memory } = this;
    const present = this.readValidity(count);
    const flags = present < count ? output.flags + output.rows : 0;
    const offsets = output.offsets + output.rows * 4;
    const before = output.textEnd();
    const isText = Number(this.kind === 'text');
    const done = kernels.appendPlainTexts(
      this.values,
      count,
      flags,
      isText,
      offsets,
      output.textBytes,
      capacity,
    );
    if (done === -1) this.source.fail('its values end too early');
    if (done === -2) this.failText();
    if (done === 0) {
      // The first text alone is larger than the room that there is.
      const position = new DataView(memory.bytes.buffer).getUint32(this.values, true);
      const length = new DataView(memory.bytes.buffer).getUint32(position, true);
      return this.appendPlainTexts(
        1,
        output.makeTextRoom(Math.max(length, Math.min(textBytes, 2 * before))),
        textBytes,
      );
    }
    if (isText === 1) {
      const end = output.textEnd(output.rows + done);
      if (!isUtf8(memory.bytes.subarray(output.textBytes + before, output.textBytes + end))) this.failText();
    }
    return done;
  }

  private failText(): never {
    return this.source.fail('a text is not valid UTF-8');
  }
}

/**
 * Decodes 64-bit Roaring bitmaps in their portable format ("RoaringFormatSpec", "Extension for 64-bit
 * implementations") behind the magic number that Delta and Iceberg put in front of them. Everything is checked: what is
 * not as the format says is DATA_CORRUPT, and nothing outside of the bytes is read.
 */
import { QueryError } from '@svc/base';

const magicNumber = 1681511377;
/** An older form of Delta's, which no table is meant to have. */
const olderMagicNumber = 1681511376;
const cookieWithRuns = 12347;
const cookieWithoutRuns = 12346;
/** From so many containers on, a bitmap with runs also lists their offsets. */
const offsetThreshold = 4;
/** A container with more values is a bit set. */
const maxArrayValues = 4096;
const bitSetBytes = 8192;
const maxContainers = 65536;
/** Positions in one page. */
const pagePositions = 65536;

/**
 * The positions in ascending order, in pages of at most 65,536 little-endian 64-bit integers. A page is overwritten by
 * the next one. `source` names the bitmap in messages.
 */
export function* bitmapPositions(bytes: Uint8Array, source: string): Generator<Uint8Array> {
  const reader = new BitmapReader(bytes, source);
  const magic = reader.uint32();
  if (magic === olderMagicNumber)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `${source} is in the older format ${magic}; ${magicNumber} is read.`,
    );
  if (magic !== magicNumber) reader.fail(`it begins with ${magic} instead of ${magicNumber}`);
  const page = new PositionPage();
  const bucketCount = reader.uint32();
  if (reader.uint32() !== 0) reader.fail('it claims more than 2^32 buckets');
  let previousKey = -1;
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const key = reader.uint32();
    if (key <= previousKey || key >= 2 ** 31) reader.fail('its buckets are not in order');
    previousKey = key;
    page.high = key;
    yield* decodeBucket(reader, page);
  }
  if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes are left over`);
  if (page.count > 0) yield page.take();
}

/** One 32-bit bitmap. */
function* decodeBucket(reader: BitmapReader, page: PositionPage): Generator<Uint8Array> {
  const containers = readContainers(reader);
  let previousKey = -1;
  for (const { key, valueCount, isRuns } of containers) {
    if (key <= previousKey) reader.fail('its containers are not in order');
    previousKey = key;
    const values = isRuns ? runValues(reader) : plainValues(reader, valueCount);
    let count = 0;
    for (const value of values) {
      count += 1;
      page.add(key * 65536 + value);
      if (page.count === pagePositions) yield page.take();
    }
    if (count !== valueCount) reader.fail(`a container of ${valueCount} values has ${count}`);
  }
}

interface Container {
  readonly key: number;
  readonly valueCount: number;
  readonly isRuns: boolean;
}

function readContainers(reader: BitmapReader): readonly Container[] {
  const cookie = reader.uint32();
  const hasRuns = (cookie & 0xffff) === cookieWithRuns;
  if (!hasRuns && cookie !== cookieWithoutRuns) reader.fail(`it begins with ${cookie}`);
  const count = hasRuns ? (cookie >>> 16) + 1 : reader.uint32();
  if (count > maxContainers) reader.fail(`it claims ${count} containers`);
  const runFlags = hasRuns ? reader.take(Math.ceil(count / 8)) : undefined;
  const containers: Container[] = [];
  for (let index = 0; index < count; index++) {
    const key = reader.uint16();
    const isRuns = (((runFlags?.[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
    containers.push({ key, valueCount: reader.uint16() + 1, isRuns });
  }
  // The containers follow each other without gaps, so that their offsets tell nothing new.
  if (!hasRuns || count >= offsetThreshold) reader.take(count * 4);
  return containers;
}

function* runValues(reader: BitmapReader): Generator<number> {
  const runCount = reader.uint16();
  let next = 0;
  for (let run = 0; run < runCount; run++) {
    const first = reader.uint16();
    const last = first + reader.uint16();
    if (first < next || last > 65535) reader.fail('its runs overlap');
    next = last + 1;
    for (let value = first; value <= last; value++) yield value;
  }
}

function* plainValues(reader: BitmapReader, valueCount: number): Generator<number> {
  if (valueCount > maxArrayValues) {
    const bits = reader.take(bitSetBytes);
    for (const [index, byte] of bits.entries())
      for (let bit = 0, rest = byte; rest !== 0; bit++, rest >>= 1) if (rest & 1) yield index * 8 + bit;
    return;
  }
  let previous = -1;
  for (let index = 0; index < valueCount; index++) {
    const value = reader.uint16();
    if (value <= previous) reader.fail('its values are not in order');
    previous = value;
    yield value;
  }
}

class PositionPage {
  readonly #buffer = Buffer.alloc(pagePositions * 8);
  count = 0;
  /** The upper 32 bits of the positions. */
  high = 0;

  add(low: number): void {
    this.#buffer.writeUInt32LE(low, this.count * 8);
    this.#buffer.writeUInt32LE(this.high, this.count * 8 + 4);
    this.count += 1;
  }

  take(): Uint8Array {
    const page = this.#buffer.subarray(0, this.count * 8);
    this.count = 0;
    return page;
  }
}

class BitmapReader {
  readonly #bytes: Buffer;
  readonly #source: string;
  #position = 0;

  constructor(bytes: Uint8Array, source: string) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#source = source;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  uint16(): number {
    return this.take(2).readUInt16LE();
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }

  take(length: number): Buffer {
    if (length > this.remaining) this.fail('it is cut short');
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }

  fail(problem: string): never {
    throw new QueryError('DATA_CORRUPT', `${this.#source} is damaged: ${problem}.`);
  }
}

/** Avro data files block by block: unlike manifests they are never in memory as a whole. */
import { QueryError } from '@svc/base';
import { AvroError } from '../iceberg/avro/avro-error.js';
import { decompressBlock } from '../iceberg/avro/codecs.js';
import {
  type AvroHeader,
  readAvroHeader,
  schemaOfHeader,
  syncBytes,
} from '../iceberg/avro/container-reader.js';
import { AvroCursor } from '../iceberg/avro/cursor.js';
import type { AvroRecord } from '../iceberg/avro/schema.js';
import type { ForwardReader } from './forward-reader.js';

/** A longer header is refused: it holds the schema, and what its writer says of the file. */
const maxHeaderBytes = 4 * 1024 * 1024;
const firstHeaderBytes = 64 * 1024;
/** Of one block, as it is stored and as it unfolds. Writers close theirs after some 64 kB, but a record stays whole. */
const maxBlockBytes = 64 * 1024 * 1024;
/** Up to here a block may unfold as it likes, further only by so much: what does more holds the process up for nothing. */
const smallBlockBytes = 16 * 1024 * 1024;
const maxExpansion = 200;
/** Two numbers of at most ten bytes. */
const maxBlockHeaderBytes = 20;

export interface AvroFileHeader {
  readonly sync: Buffer;
  readonly codec: string;
  readonly record: AvroRecord;
}

export interface AvroBlock {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** Throws an AvroError, and moves the reader to the first block. */
export async function takeHeader(reader: ForwardReader): Promise<AvroFileHeader> {
  const size = Math.min(maxHeaderBytes, reader.remaining);
  for (let length = Math.min(firstHeaderBytes, size); ; length = size) {
    const bytes = await reader.peek(length);
    const cursor = new AvroCursor(bytes);
    let header: AvroHeader;
    try {
      header = readAvroHeader(cursor);
    } catch (error) {
      if (!(error instanceof AvroError) || bytes.length >= size) throw error;
      continue;
    }
    const { schema, codec } = schemaOfHeader(header.metadata);
    if (schema.kind !== 'record') throw new AvroError('its rows are no records');
    const sync = Buffer.from(header.sync);
    await reader.take(cursor.position);
    return { sync, codec, record: schema };
  }
}

/** Throws an AvroError, or UNSUPPORTED_TABLE_FEATURE for blocks too large to be held and for unknown codecs. */
export async function* takeBlocks(
  reader: ForwardReader,
  { sync, codec }: AvroFileHeader,
  source: string,
): AsyncGenerator<AvroBlock, void, undefined> {
  while (reader.remaining > 0) {
    const cursor = new AvroCursor(await reader.peek(maxBlockHeaderBytes));
    const count = cursor.integer();
    const size = cursor.integer();
    if (count < 0 || size < 0 || size > reader.remaining)
      throw new AvroError(`a block claims ${count} records in ${size} bytes`);
    if (size > maxBlockBytes)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `${source} has a block of ${size} bytes; at most ${maxBlockBytes} are read.`,
      );
    await reader.take(cursor.position);
    const stored = await reader.take(size);
    if (!(await reader.take(syncBytes)).equals(sync))
      throw new AvroError('a block does not end with the sync marker');
    const maxBytes = Math.min(maxBlockBytes, Math.max(smallBlockBytes, size * maxExpansion));
    const bytes = decompressBlock(codec, stored, { source, maxBytes });
    if (count > bytes.length)
      throw new AvroError(`a block of ${bytes.length} bytes cannot hold ${count} records`);
    yield { count, bytes };
  }
}

import type { JsonValue } from '../spec/lossless-json.js';
import { printJson } from '../spec/lossless-json.js';
import { compressBlock, type WriteCodec } from './codecs.js';
import { AvroEncoder } from './encoder.js';

export interface AvroFileToWrite<T> {
  readonly schema: JsonValue;
  /** Entries of the header beside Avro's own. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly codec: WriteCodec;
  /** Sixteen bytes that separate the blocks; random, so that they do not occur in the data. */
  readonly sync: Uint8Array;
  readonly records: Iterable<T>;
  readonly write: (encoder: AvroEncoder, record: T) => void;
}

/** A block is closed once it is this long: a reader need not decompress more at a time. */
const blockBytes = 256 * 1024;

/** The bytes of an object container file. */
export function writeAvroFile<T>(file: AvroFileToWrite<T>): Uint8Array {
  const output = new AvroEncoder();
  output.raw(Buffer.from('Obj\x01', 'latin1'));
  const header = { 'avro.schema': printJson(file.schema), 'avro.codec': file.codec, ...file.metadata };
  output.list(Object.entries(header), ([key, value]) => {
    output.text(key);
    output.text(value);
  });
  output.raw(file.sync);
  let block = new AvroEncoder();
  let count = 0;
  const closeBlock = (): void => {
    output.integer(count);
    output.byteString(compressBlock(file.codec, block.finish()));
    output.raw(file.sync);
    block = new AvroEncoder();
    count = 0;
  };
  for (const record of file.records) {
    file.write(block, record);
    count++;
    if (block.length >= blockBytes) closeBlock();
  }
  if (count > 0) closeBlock();
  return output.finish();
}

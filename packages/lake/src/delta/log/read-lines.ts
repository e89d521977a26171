import { QueryError, throwIfAborted } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import { parseLogLine } from './exact-json.js';

/** A larger line would not fit into one text. */
const maxLineBytes = 256 * 1024 * 1024;
/** A commit of millions of files; more would be an attack on the memory. */
const maxFileBytes = 2 * 1024 * 1024 * 1024;
const pieceBytes = 8 * 1024 * 1024;
const newLine = 10;

/** The objects of a file of JSON lines, one after the other, each with its source (file and line) for messages. */
export async function* readJsonLines(
  store: ObjectStore,
  location: string,
  { signal }: ReadOptions,
): AsyncGenerator<{ readonly json: JsonFields; readonly source: string }> {
  const { sizeBytes, version } = await store.head(location, signal && { signal });
  if (sizeBytes > maxFileBytes)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `${location} has ${sizeBytes} bytes; files of a log are read up to ${maxFileBytes} bytes.`,
    );
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let lineNumber = 0;
  const parseLine = (line: Uint8Array) => {
    lineNumber += 1;
    const source = `${location}, line ${lineNumber}`;
    return isBlank(line) ? undefined : { json: new JsonFields(parseLogLine(line, source), source), source };
  };
  for (let start = 0; start < sizeBytes; start += pieceBytes) {
    throwIfAborted(signal);
    const end = Math.min(start + pieceBytes, sizeBytes);
    const [piece] = await store.readRanges(location, [{ start, end }], {
      version,
      ...(signal && { signal }),
    });
    if (piece?.length !== end - start)
      throw new QueryError('DATA_CORRUPT', `${location} answered fewer bytes than it has.`);
    let lineStart = 0;
    for (let at = piece.indexOf(newLine); at >= 0; at = piece.indexOf(newLine, lineStart)) {
      const line = parseLine(Buffer.concat([...pending, piece.subarray(lineStart, at)]));
      pending = [];
      pendingBytes = 0;
      lineStart = at + 1;
      if (line !== undefined) yield line;
    }
    pending.push(piece.subarray(lineStart));
    pendingBytes += piece.length - lineStart;
    if (pendingBytes > maxLineBytes)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `Line ${lineNumber + 1} of ${location} is longer than ${maxLineBytes} bytes.`,
      );
  }
  const last = parseLine(Buffer.concat(pending));
  if (last !== undefined) yield last;
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 32 || byte === 9 || byte === 13);
}

import { basename } from 'node:path';
import { QueryError } from '@svc/base';
import type { StagedGroup } from './views/staged-group.js';

/**
 * What the engine says of the pages of a Parquet file: not which file, and as if the statement were at fault. Whole
 * beginnings only, because a message may also quote a value.
 */
const damagedPages =
  /^(?:TProtocolException|TTransportException|Out of buffer|(?:Snappy|ZSTD|LZ4|Brotli|GZIP)\b.*(?:fail|error)|Failed to decompress|Decompression failure|Parquet (?:file|data) .*corrupt|Varint decoding)/i;

const maxNamed = 3;

/**
 * What the engine says of a staged file, said of the table's file that it stands for: a user and an operator know only
 * that one.
 */
export function namingOriginalFiles(caught: unknown, groups: readonly StagedGroup[]): QueryError {
  const error = QueryError.from(caught);
  let { message } = error;
  for (const { paths, locations } of groups) {
    paths.forEach((path, index) => {
      const location = locations[index];
      if (location !== undefined) message = message.replaceAll(basename(path), location);
    });
  }
  if (message !== error.message)
    return new QueryError(error.code, message, { cause: error.cause, retryable: error.retryable });
  return damagedPages.test(message) ? (oneIsDamaged(message, groups) ?? error) : error;
}

function oneIsDamaged(message: string, groups: readonly StagedGroup[]): QueryError | undefined {
  const locations = [...new Set(groups.flatMap((group) => group.locations))];
  if (locations.length === 0) return undefined;
  const named = locations.slice(0, maxNamed).join(', ');
  const more = locations.length > maxNamed ? ` and ${locations.length - maxNamed} more` : '';
  const which = locations.length === 1 ? `The data file ${named}` : `One of the data files ${named}${more}`;
  return new QueryError('DATA_CORRUPT', `${which} is damaged: ${message.split('\n', 1)[0] ?? ''}`);
}

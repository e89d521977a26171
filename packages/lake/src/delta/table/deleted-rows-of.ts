import { QueryError } from '@svc/base';
import type { DeletedRows } from '../../deletes/deleted-rows.js';
import type { AddedFile, DeletionVector } from '../log/actions.js';
import { below, dataLocation } from './data-path.js';
import { decodeZ85 } from './z85.js';

const uuidLetters = 20;
/** Length and checksum, which the size in the log leaves out. */
const frameBytes = 8;

/** The deleted rows of a file (protocol, "Deletion Vector Descriptor Schema"); `undefined` when there are none. */
export function deletedRowsOf(file: AddedFile, tableLocation: string): DeletedRows | undefined {
  const { deletionVector: vector, source } = file;
  if (vector === undefined || vector.cardinality === 0) return undefined;
  const fail = (problem: string): QueryError =>
    new QueryError('DATA_CORRUPT', `${source}: the deletion vector of ${file.path} ${problem}.`);
  const { storageType, sizeBytes, cardinality, offset = 0 } = vector;
  if (sizeBytes <= 0 || cardinality < 0 || offset < 0)
    throw fail(`claims ${cardinality} rows in ${sizeBytes} bytes at ${offset}`);
  const rowCount = cardinality;
  if (storageType === 'i') {
    const bytes = decodeZ85(vector.pathOrInline);
    if (bytes === undefined || bytes.length < sizeBytes)
      throw fail(`does not have ${sizeBytes} bytes of Base85`);
    const base64 = Buffer.from(bytes.subarray(0, sizeBytes)).toString('base64');
    return { rowCount, bitmap: { kind: 'inline', base64 } };
  }
  const location = locationOf(vector, file, tableLocation);
  if (location === undefined) throw fail(`has the unknown storage type ${JSON.stringify(storageType)}`);
  return {
    rowCount,
    bitmap: { kind: 'stored', location, start: offset, end: offset + sizeBytes + frameBytes },
  };
}

function locationOf(
  { storageType, pathOrInline }: DeletionVector,
  { source }: AddedFile,
  tableLocation: string,
): string | undefined {
  if (storageType === 'p') return dataLocation(tableLocation, pathOrInline, source);
  if (storageType !== 'u') return undefined;
  const prefix = pathOrInline.slice(0, -uuidLetters);
  const bytes = decodeZ85(pathOrInline.slice(-uuidLetters));
  if (bytes?.length !== 16)
    throw new QueryError(
      'DATA_CORRUPT',
      `${source}: ${JSON.stringify(pathOrInline)} names no deletion vector.`,
    );
  const hex = Buffer.from(bytes).toString('hex');
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  const name = `deletion_vector_${uuid}.bin`;
  return below(tableLocation, prefix === '' ? name : `${prefix}/${name}`, source);
}

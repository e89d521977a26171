import { QueryError } from '@svc/base';
import { decimalBytes } from '../manifests/avro-schemas.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { AddedDataFile } from '../manifests/write-manifest.js';
import { encodeBinaryValue } from '../spec/binary-value.js';
import { printType } from '../spec/type-text.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';

/** Throws INVALID_ARGUMENT naming the file: one that is there twice, or with other partition values than the spec has. */
export function checkAddedFiles(files: readonly AddedDataFile[], { spec, types }: TypedPartitionSpec): void {
  const locations = new Set<string>();
  for (const { location, partition } of files) {
    if (locations.has(location)) throw invalid(location, 'it is added twice');
    locations.add(location);
    if (partition.length !== spec.fields.length)
      throw invalid(location, `it has ${partition.length} partition values, not ${spec.fields.length}`);
    for (const [slot, field] of spec.fields.entries()) {
      const [value, type] = [partition[slot] ?? null, types[slot]];
      if (value === null) continue;
      if (field.transform === 'void') throw invalid(location, `its value of ${field.name} is not null`);
      if (type === undefined || !isOfType(type, value))
        throw invalid(
          location,
          `its value of ${field.name} is no ${type === undefined ? 'known type' : printType(type)}`,
        );
    }
  }
}

function isOfType(type: PrimitiveType, value: PrimitiveValue): boolean {
  if ((type.kind === 'int' || type.kind === 'date') && (typeof value !== 'number' || (value | 0) !== value))
    return false;
  if (typeof value === 'bigint' && type.kind !== 'decimal' && BigInt.asIntN(64, value) !== value)
    return false;
  try {
    const { length } = encodeBinaryValue(type, value);
    if (type.kind === 'uuid') return length === 16;
    if (type.kind === 'fixed') return length === type.length;
    // Not by its digits: truncating can lead to one more.
    return type.kind !== 'decimal' || length <= decimalBytes(type.precision);
  } catch {
    return false;
  }
}

function invalid(location: string, problem: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', `The data file ${location} cannot be added: ${problem}.`);
}

/**
 * Dictionary-encoded arrays as plain ones. The engine's own conversion of dictionaries turns nulls into the first value
 * (seen in 1.5.5), so it is never given any.
 */
import { type DecodedArray, type DecodedBatch, integerAt, isValid, offsetAt } from './decoded-array.js';
import { malformed } from './flatbuffer-read.js';
import { type ArrowField, layoutOf } from './types.js';

/** Rebuilds the columns that hold dictionaries, at any depth; other arrays are passed on as they are. */
export function expandBatch(batch: DecodedBatch): DecodedBatch {
  return { ...batch, columns: batch.columns.map(expandArray) };
}

function expandArray(array: DecodedArray): DecodedArray {
  if (array.field.dictionary === undefined) {
    const children = array.children.map(expandArray);
    const isSame = children.every((child, index) => child === array.children[index]);
    return isSame
      ? array
      : { ...array, field: { ...array.field, children: children.map((c) => c.field) }, children };
  }
  const field = { ...array.field, dictionary: undefined };
  const { dictionary } = array;
  if (dictionary === undefined) return withoutValues(array, field);
  const shared = {
    field,
    length: array.length,
    nullCount: array.nullCount,
    validity: array.validity,
    children: [],
    dictionary: undefined,
    layout: dictionary.layout,
  };
  const values = expandArray(dictionary);
  const validity = mergeValidity(array, values);
  switch (values.layout.kind) {
    case 'fixed':
      return { ...shared, ...validity, buffers: [gatherFixed(array, values, values.layout.bytes)] };
    case 'variable':
      return { ...shared, ...validity, buffers: gatherVariable(array, values) };
    case 'none':
    case 'bits':
    case 'list':
    case 'sparseUnion':
    case 'denseUnion':
      throw unsupportedValues(field);
  }
}

/** Rows that are all null, of an array that came without its dictionary. */
function withoutValues(array: DecodedArray, field: ArrowField): DecodedArray {
  const layout = layoutOf(field.type);
  const zeros = (byteCount: number) => new Uint8Array(new ArrayBuffer(byteCount));
  const validity = zeros(Math.ceil(array.length / 8));
  const shared = { ...array, field, layout, validity, nullCount: array.length, dictionary: undefined };
  if (layout.kind === 'fixed') return { ...shared, buffers: [zeros(array.length * layout.bytes)] };
  if (layout.kind === 'variable')
    return { ...shared, buffers: [zeros((array.length + 1) * layout.offsetBytes), zeros(0)] };
  throw unsupportedValues(field);
}

function unsupportedValues(field: ArrowField): Error {
  return malformed(
    `the dictionary of field "${field.name}" holds ${field.type.kind} values, which is not supported`,
  );
}

/** A row is null where its index is, or where the value that it points to is. */
function mergeValidity(
  array: DecodedArray,
  values: DecodedArray,
): Pick<DecodedArray, 'validity' | 'nullCount'> {
  if (values.nullCount === 0) return { validity: array.validity, nullCount: array.nullCount };
  const validity = new Uint8Array(new ArrayBuffer(Math.ceil(array.length / 8)));
  let nullCount = 0;
  for (let row = 0; row < array.length; row++) {
    if (isValid(array, row) && isValid(values, Number(integerAt(array, row))))
      validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7));
    else nullCount += 1;
  }
  return { validity, nullCount };
}

function gatherFixed(array: DecodedArray, values: DecodedArray, width: number): Uint8Array {
  const source = values.buffers[0];
  const target = new Uint8Array(new ArrayBuffer(array.length * width));
  for (let row = 0; row < array.length; row++)
    if (source !== undefined && isValid(array, row)) {
      const from = Number(integerAt(array, row)) * width;
      target.set(source.subarray(from, from + width), row * width);
    }
  return target;
}

function gatherVariable(array: DecodedArray, values: DecodedArray): Uint8Array[] {
  const source = values.buffers[1];
  const offsetBytes = values.layout.kind === 'variable' ? values.layout.offsetBytes : 4;
  const parts: Uint8Array[] = [];
  const offsets = new Uint8Array(new ArrayBuffer((array.length + 1) * offsetBytes));
  const view = new DataView(offsets.buffer);
  let end = 0;
  for (let row = 0; row < array.length; row++) {
    if (source !== undefined && isValid(array, row)) {
      const index = Number(integerAt(array, row));
      const part = source.subarray(offsetAt(values, index), offsetAt(values, index + 1));
      parts.push(part);
      end += part.byteLength;
      if (offsetBytes === 4 && end > 0x7fff_ffff)
        throw malformed(`field "${array.field.name}" is longer than 2 GiB without its dictionary`);
    }
    if (offsetBytes === 4) view.setInt32((row + 1) * 4, end, true);
    else view.setBigInt64((row + 1) * 8, BigInt(end), true);
  }
  const bytes = new Uint8Array(new ArrayBuffer(end));
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.byteLength;
  }
  return [offsets, bytes];
}

/** The schema's fields as `expandBatch` leaves them. */
export function expandFields(fields: readonly ArrowField[]): readonly ArrowField[] {
  return fields.map((field) => ({
    ...field,
    dictionary: undefined,
    children: expandFields(field.children),
  }));
}

/** Arrow's logical types and fields, as far as the engine produces or accepts them. */

export interface IntType {
  readonly kind: 'int';
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

export interface FloatType {
  readonly kind: 'float';
  readonly bits: 16 | 32 | 64;
}

export interface DecimalType {
  readonly kind: 'decimal';
  readonly precision: number;
  readonly scale: number;
  readonly bits: 32 | 64 | 128 | 256;
}

export interface TimeType {
  readonly kind: 'time';
  readonly unit: TimeUnit;
}

export interface TimestampType {
  readonly kind: 'timestamp';
  readonly unit: TimeUnit;
  readonly timezone: string | undefined;
}

export interface IntervalType {
  readonly kind: 'interval';
  readonly unit: 'yearMonth' | 'dayTime' | 'monthDayNano';
}

export type ArrowType =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool' }
  | IntType
  | FloatType
  | DecimalType
  | { readonly kind: 'utf8'; readonly large: boolean }
  | { readonly kind: 'binary'; readonly large: boolean }
  | { readonly kind: 'fixedBinary'; readonly width: number }
  | { readonly kind: 'date'; readonly unit: 'day' | 'millisecond' }
  | TimeType
  | TimestampType
  | { readonly kind: 'duration'; readonly unit: TimeUnit }
  | IntervalType
  | { readonly kind: 'list'; readonly large: boolean }
  | { readonly kind: 'fixedList'; readonly size: number }
  | { readonly kind: 'struct' }
  | { readonly kind: 'map'; readonly keysSorted: boolean }
  | { readonly kind: 'union'; readonly mode: 'sparse' | 'dense'; readonly typeIds: readonly number[] };

export type TimeUnit = 'second' | 'millisecond' | 'microsecond' | 'nanosecond';

/** A dictionary-encoded field: `type` of the field is that of the values, `indexType` that of its own buffer. */
export interface ArrowDictionary {
  readonly id: bigint;
  readonly indexType: IntType;
  readonly ordered: boolean;
}

export interface ArrowField {
  readonly name: string;
  readonly nullable: boolean;
  readonly type: ArrowType;
  /** Children of the type; of a dictionary-encoded field those of its values. */
  readonly children: readonly ArrowField[];
  readonly dictionary: ArrowDictionary | undefined;
  readonly metadata: ReadonlyMap<string, string>;
}

export interface ArrowSchema {
  readonly fields: readonly ArrowField[];
  readonly metadata: ReadonlyMap<string, string>;
}

/**
 * The buffers that an array of the type owns, in the order of the columnar format (without those of children):
 * `offsets` and `bytes` depend on each other, `fixed` is `bytes` per row, `bits` is one bit per row.
 */
export type BufferLayout =
  | { readonly kind: 'none'; readonly hasValidity: boolean }
  | { readonly kind: 'bits' }
  | { readonly kind: 'fixed'; readonly bytes: number }
  | { readonly kind: 'variable'; readonly offsetBytes: 4 | 8 }
  | { readonly kind: 'list'; readonly offsetBytes: 4 | 8 }
  | { readonly kind: 'sparseUnion' }
  | { readonly kind: 'denseUnion' };

/** The layout of the values of a type; a dictionary-encoded field has the layout of its index type. */
export function layoutOf(type: ArrowType): BufferLayout {
  switch (type.kind) {
    case 'null':
      return { kind: 'none', hasValidity: false };
    case 'struct':
    case 'fixedList':
      return { kind: 'none', hasValidity: true };
    case 'bool':
      return { kind: 'bits' };
    case 'utf8':
    case 'binary':
      return { kind: 'variable', offsetBytes: type.large ? 8 : 4 };
    case 'list':
      return { kind: 'list', offsetBytes: type.large ? 8 : 4 };
    case 'map':
      return { kind: 'list', offsetBytes: 4 };
    case 'union':
      return { kind: type.mode === 'sparse' ? 'sparseUnion' : 'denseUnion' };
    case 'int':
    case 'float':
    case 'decimal':
      return { kind: 'fixed', bytes: type.bits / 8 };
    case 'fixedBinary':
      return { kind: 'fixed', bytes: type.width };
    case 'date':
      return { kind: 'fixed', bytes: type.unit === 'day' ? 4 : 8 };
    case 'time':
      return { kind: 'fixed', bytes: type.unit === 'second' || type.unit === 'millisecond' ? 4 : 8 };
    case 'timestamp':
    case 'duration':
      return { kind: 'fixed', bytes: 8 };
    case 'interval':
      return { kind: 'fixed', bytes: type.unit === 'yearMonth' ? 4 : type.unit === 'dayTime' ? 8 : 16 };
  }
}

/** Number of buffers an array of the layout has, in the C data interface and in IPC alike (format version 5). */
export function bufferCountOf(layout: BufferLayout): number {
  switch (layout.kind) {
    case 'none':
      return layout.hasValidity ? 1 : 0;
    case 'bits':
    case 'fixed':
    case 'list':
    case 'denseUnion':
      return 2;
    case 'variable':
      return 3;
    case 'sparseUnion':
      return 1;
  }
}

/** The layout of a field's own buffers: the indexes' when it is dictionary-encoded. */
export function fieldLayout(field: ArrowField): BufferLayout {
  return layoutOf(field.dictionary === undefined ? field.type : field.dictionary.indexType);
}

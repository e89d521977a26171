/** Partition transforms (specification, "Partition Transforms"). */
import type { PrimitiveType } from '../spec/types.js';

export type Transform =
  | { readonly kind: 'identity' | 'void' | 'year' | 'month' | 'day' | 'hour' }
  | { readonly kind: 'bucket'; readonly buckets: number }
  | { readonly kind: 'truncate'; readonly width: number }
  /** A transform of a later version: such a table is read, but never pruned by this field. */
  | { readonly kind: 'unknown'; readonly text: string };

export function parseTransform(text: string): Transform {
  switch (text) {
    case 'identity':
    case 'void':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return { kind: text };
  }
  const [, name, parameter] = /^(bucket|truncate)\[(\d{1,10})\]$/.exec(text) ?? [];
  const number = Number(parameter);
  if (name === undefined || number < 1 || number > 0x7fffffff) return { kind: 'unknown', text };
  return name === 'bucket' ? { kind: 'bucket', buckets: number } : { kind: 'truncate', width: number };
}

/** The type of the partition values; `undefined` when the transform is unknown or does not take the source type. */
export function transformResultType(transform: Transform, source: PrimitiveType): PrimitiveType | undefined {
  switch (transform.kind) {
    case 'identity':
    case 'void':
      return source;
    case 'bucket':
      return isBucketable(source) ? { kind: 'int' } : undefined;
    case 'truncate':
      return isTruncatable(source) ? source : undefined;
    case 'year':
    case 'month':
      return source.kind === 'date' || isTimestamp(source) ? { kind: 'int' } : undefined;
    case 'day':
      return source.kind === 'date' || isTimestamp(source) ? { kind: 'date' } : undefined;
    case 'hour':
      return isTimestamp(source) ? { kind: 'int' } : undefined;
    case 'unknown':
      return undefined;
  }
}

export function isTimestamp(type: PrimitiveType): boolean {
  return type.kind.startsWith('timestamp');
}

function isBucketable(type: PrimitiveType): boolean {
  switch (type.kind) {
    case 'boolean':
    case 'float':
    case 'double':
    case 'unknown':
    case 'unsupported':
      return false;
    default:
      return true;
  }
}

function isTruncatable(type: PrimitiveType): boolean {
  return ['int', 'long', 'decimal', 'string', 'binary'].includes(type.kind);
}

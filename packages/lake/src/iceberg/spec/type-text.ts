import type { IcebergType, PrimitiveType, PrimitiveTypeName } from './types.js';

const simpleNames: ReadonlySet<string> = new Set<PrimitiveTypeName>([
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'binary',
  'unknown',
]);

/**
 * A primitive type's text (specification, "Schemas", Appendix C): `int`, `decimal(9, 2)`, `fixed[16]`.
 * Types that are known but not read here become `unsupported`; any other text is `undefined`.
 */
export function parsePrimitiveType(text: string): PrimitiveType | undefined {
  if (isSimpleName(text)) return { kind: text };
  const decimal = /^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/.exec(text);
  if (decimal !== null) {
    const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
    return precision >= 1 && precision <= 38 && scale <= precision
      ? { kind: 'decimal', precision, scale }
      : undefined;
  }
  const fixed = /^fixed\[\s*(\d{1,9})\s*\]$/.exec(text);
  if (fixed !== null) return { kind: 'fixed', length: Number(fixed[1]) };
  return /^(variant|geometry|geography)\b/.test(text) ? { kind: 'unsupported', text } : undefined;
}

function isSimpleName(text: string): text is PrimitiveTypeName {
  return simpleNames.has(text);
}

/** A type's text as the specification prints it; nested types in the form `struct<1: a: int>`. */
export function printType(type: IcebergType): string {
  switch (type.kind) {
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'fixed':
      return `fixed[${type.length}]`;
    case 'unsupported':
      return type.text;
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.id}: ${field.name}: ${printType(field.type)}`).join(', ')}>`;
    case 'list':
      return `list<${printType(type.element)}>`;
    case 'map':
      return `map<${printType(type.key)}, ${printType(type.value)}>`;
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'string':
    case 'uuid':
    case 'binary':
    case 'unknown':
      return type.kind;
  }
}

export function isPrimitive(type: IcebergType): type is PrimitiveType {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map';
}

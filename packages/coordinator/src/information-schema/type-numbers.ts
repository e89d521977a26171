import type { IcebergType } from '@svc/lake';

/** What information_schema.columns says of a type beside its name, as the SQL standard has it; null where it does not apply. */
export interface TypeNumbers {
  readonly precision: number | null;
  /** In which the precision counts: binary or decimal digits. */
  readonly radix: 2 | 10 | null;
  readonly scale: number | null;
  /** Digits of a second's fraction. */
  readonly datetime: number | null;
}

const nothing: TypeNumbers = { precision: null, radix: null, scale: null, datetime: null };
const binary = (precision: number, scale: number | null): TypeNumbers => ({
  ...nothing,
  precision,
  radix: 2,
  scale,
});

export function typeNumbers(type: IcebergType): TypeNumbers {
  switch (type.kind) {
    case 'int':
      return binary(32, 0);
    case 'long':
      return binary(64, 0);
    case 'float':
      return binary(24, null);
    case 'double':
      return binary(53, null);
    case 'decimal':
      return { ...nothing, precision: type.precision, radix: 10, scale: type.scale };
    case 'date':
      return { ...nothing, datetime: 0 };
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return { ...nothing, datetime: 6 };
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return { ...nothing, datetime: 9 };
    case 'boolean':
    case 'string':
    case 'uuid':
    case 'fixed':
    case 'binary':
    case 'unknown':
    case 'unsupported':
    case 'struct':
    case 'list':
    case 'map':
      return nothing;
  }
}

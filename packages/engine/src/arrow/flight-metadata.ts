import type { DuckDbFunctions } from '../capi/functions.js';
import { duckDbType, typeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import type { ArrowMode } from './type-mapping.js';
import type { ArrowField, ArrowSchema } from './types.js';

/**
 * The field metadata that Flight SQL clients read of a result: SQL's name of the type, and precision and scale of
 * decimals (JDBC's ResultSetMetaData has no other source). Our own parts need none.
 */
export function withFlightMetadata(
  functions: DuckDbFunctions,
  mode: ArrowMode,
  schema: ArrowSchema,
  columns: readonly { readonly type: Address }[],
): ArrowSchema {
  if (mode === 'lossless') return schema;
  const fields = schema.fields.map((field, index): ArrowField => {
    const type = columns[index]?.type;
    if (type === undefined) return field;
    // The values of an enumeration belong to the data, not to the name of its type.
    const name = typeText(functions, type, (id) => (id === duckDbType.enum ? 'ENUM' : undefined));
    const metadata = new Map(field.metadata).set('ARROW:FLIGHT:SQL:TYPE_NAME', flightTypeName(name));
    if (field.type.kind === 'decimal') {
      metadata.set('ARROW:FLIGHT:SQL:PRECISION', String(field.type.precision));
      metadata.set('ARROW:FLIGHT:SQL:SCALE', String(field.type.scale));
    }
    return { ...field, metadata };
  });
  return { ...schema, fields };
}

/** The name that GetXdbcTypeInfo lists the type under: tools look it up there, and read parameters from their own keys. */
function flightTypeName(name: string): string {
  if (name.startsWith('DECIMAL(')) return 'DECIMAL';
  return name === 'TIMESTAMPTZ' ? 'TIMESTAMP WITH TIME ZONE' : name;
}

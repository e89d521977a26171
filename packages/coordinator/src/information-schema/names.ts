import type { Namespace } from '@svc/lake';

/** The schema of every catalog whose tables say what is in the catalog. No schema of a user's own has its name. */
export const informationSchema = 'information_schema';

export function isInformationSchema(namespace: Namespace): boolean {
  return namespace.length === 1 && namespace[0]?.toLowerCase() === informationSchema;
}

/** The engine keeps the name for its own views, which say what is in the engine: ours lie beside it. */
export function engineSchemaName(schema: string): string {
  return schema.toLowerCase() === informationSchema ? ` ${informationSchema}` : schema;
}

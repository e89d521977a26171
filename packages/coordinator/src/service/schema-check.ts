import { QueryError } from '@svc/base';

/** Whether two encapsulated Arrow schemas are the same to the byte: what was promised is what must come. */
export function isSameSchema(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

export function schemaChanged(): QueryError {
  return new QueryError(
    'RESULT_SCHEMA_CHANGED',
    'The result has other columns than were announced, because tables or session settings changed: prepare the statement again.',
  );
}

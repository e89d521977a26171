import type { Schema } from './types.js';

/** Table metadata (table specification, "Table Metadata"), formats 1 to 3; the iceberg folder completes it. */
export interface TableMetadata {
  readonly formatVersion: number;
  readonly tableUuid: string;
  readonly location: string;
  readonly currentSchemaId: number;
  readonly schemas: readonly Schema[];
}

import { QueryError } from '@svc/base';
import {
  isMetadataTableKind,
  type LoadedTable,
  type MetadataTable,
  openMetadataTable,
  type SnapshotPin,
  splitMetadataName,
} from '@svc/lake';
import type { ReadableCatalog } from '../catalogs/catalog-directory.js';
import { schemaName, type TablePlace } from '../planner/names.js';

export interface FoundMetadataTable {
  readonly table: MetadataTable;
  /** `catalog.schema.t$files`, as the catalog spells the table. */
  readonly name: string;
  readonly path: readonly [catalog: string, schema: string, name: string];
  /** Whose metadata it shows. */
  readonly loaded: LoadedTable;
}

interface FindOptions {
  readonly pin: SnapshotPin;
  readonly signal: AbortSignal;
  /** Throws where the user may not know what there is to tell of the table: asked before anything is told of it. */
  readonly permit?: (about: LoadedTable) => void;
}

/**
 * The metadata table that a name asks for which is no table's or view's own: `"t$snapshots"`. Undefined when it asks for
 * none. Throws TABLE_NOT_FOUND for a table that does not exist, or has no such metadata table.
 */
export async function findMetadataTable(
  { catalog, identifier }: TablePlace,
  loader: Pick<ReadableCatalog, 'loadTable'>,
  { pin, signal, permit }: FindOptions,
): Promise<FoundMetadataTable | undefined> {
  const asked = splitMetadataName(identifier.name);
  if (asked === undefined) return undefined;
  let loaded: LoadedTable;
  try {
    loaded = await loader.loadTable({ ...identifier, name: asked.table }, { signal });
  } catch (error) {
    const isMissing = error instanceof QueryError && error.code === 'TABLE_NOT_FOUND';
    if (isMissing && !isMetadataTableKind(asked.kind)) return undefined;
    throw error;
  }
  permit?.(loaded);
  const { namespace, name } = loaded.identifier;
  const base = [catalog, schemaName(namespace), name] as const;
  const table = openMetadataTable(loaded, asked.kind, pin, base.join('.'));
  const path = [base[0], base[1], `${name}$${asked.kind.toLowerCase()}`] as const;
  return { table, loaded, path, name: path.join('.') };
}

import type { TableMetadata } from '../spec/table-metadata.js';

/** A table to write to: `metadataLocation` is `undefined` while it is being created. */
export interface TableToWrite {
  readonly metadata: TableMetadata;
  readonly metadataLocation: string | undefined;
}

/**
 * Where the table's files go: beside its metadata file, where the catalog found it. Properties and metadata that name
 * other folders are not followed: they are data, and a writer would write wherever they say.
 */
export function tableFolders(table: TableToWrite): { readonly data: string; readonly metadata: string } {
  const metadataFolder = table.metadataLocation?.replace(/\/[^/]*$/, '');
  const folder = metadataFolder?.replace(/\/[^/]*$/, '') ?? table.metadata.location.replace(/\/+$/, '');
  return { data: `${folder}/data`, metadata: metadataFolder ?? `${folder}/metadata` };
}

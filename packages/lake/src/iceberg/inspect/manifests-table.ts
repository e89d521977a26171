import type { LoadedTable } from '../../catalogs/catalog.js';
import type { FieldSummary } from '../expressions/evaluate-filter.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { manifestSpecId } from '../manifests/manifest.js';
import type { ManifestFile } from '../manifests/manifest-list.js';
import { specOfManifest, typedPartitionSpecs } from '../scan/partition-types.js';
import type { ResolvedSnapshot } from '../scan/resolve-snapshot.js';
import { decodeBinaryValue } from '../spec/binary-value.js';
import { parseTransform } from '../transforms/transform.js';
import {
  type Cell,
  fieldsOf,
  listOf,
  type MetadataColumn,
  type MetadataTable,
  rowMaker,
  structOf,
  types,
} from './metadata-table.js';
import { manifestContent, snapshotManifests } from './snapshot-manifests.js';
import { partitionText } from './value-text.js';

const summaryType = structOf([
  { name: 'contains_null', type: types.boolean },
  { name: 'contains_nan', type: types.boolean },
  { name: 'lower_bound', type: types.string },
  { name: 'upper_bound', type: types.string },
]);

/** A manifest and its spec, which a manifest that format 1 only names says itself. */
interface Item extends ManifestFile {
  readonly specId: number;
}

/** The manifests of a snapshot, of data files and of deletes. */
export function manifestsTable(table: LoadedTable, { snapshot, schema }: ResolvedSnapshot): MetadataTable {
  const specs = typedPartitionSpecs(table.metadata, schema);
  const columns: readonly MetadataColumn<Item>[] = [
    { name: 'path', type: types.string, cell: (each) => each.location },
    { name: 'length', type: types.long, cell: (each) => each.lengthBytes },
    { name: 'partition_spec_id', type: types.int, cell: (each) => each.specId },
    { name: 'added_snapshot_id', type: types.long, cell: (each) => each.addedSnapshotId },
    { name: 'added_data_files_count', type: types.int, cell: (each) => each.addedFileCount },
    { name: 'added_rows_count', type: types.long, cell: (each) => each.addedRowCount },
    { name: 'existing_data_files_count', type: types.int, cell: (each) => each.existingFileCount },
    { name: 'existing_rows_count', type: types.long, cell: (each) => each.existingRowCount },
    { name: 'deleted_data_files_count', type: types.int, cell: (each) => each.deletedFileCount },
    { name: 'deleted_rows_count', type: types.long, cell: (each) => each.deletedRowCount },
    {
      name: 'partition_summaries',
      type: listOf(summaryType),
      cell: (each) => summaryCells(each, specOfManifest(specs, each.specId, each.location)),
    },
  ];
  return {
    fields: fieldsOf(columns),
    async *rows(isWanted, options) {
      if (snapshot === undefined) return;
      const makeRow = rowMaker(columns, isWanted);
      for (const manifest of await snapshotManifests(table, snapshot, options)) {
        const specId =
          manifest.specId ?? manifestSpecId((await manifestContent(table, manifest, options)).file);
        yield [makeRow({ ...manifest, specId })];
      }
    },
  };
}

function summaryCells({ partitions }: Item, spec: TypedPartitionSpec): Cell {
  return (partitions ?? []).map((summary, slot) => [
    summary.containsNull,
    summary.containsNaN,
    summaryBound(summary.lowerBound, spec, slot),
    summaryBound(summary.upperBound, spec, slot),
  ]);
}

function summaryBound(
  bound: FieldSummary['lowerBound'],
  { spec, types: partitionTypes }: TypedPartitionSpec,
  slot: number,
): string | null {
  const [field, type] = [spec.fields[slot], partitionTypes[slot]];
  if (bound === null || field === undefined || type === undefined) return null;
  const value = decodeBinaryValue(type, bound);
  return value === undefined ? null : partitionText(parseTransform(field.transform), type, value);
}

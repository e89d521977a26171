/** Plans the reading of a scan's delete files, as tables of what they list. */
import type { BoundFilter } from '../iceberg/expressions/bind-filter.js';
import { always, onlyOnFields } from '../iceberg/expressions/bind-filter.js';
import type { TableFile } from '../iceberg/manifests/data-file.js';
import { filePathId, positionId } from '../iceberg/manifests/delete-file.js';
import type { AssignedDeletes, DeleteFileSet } from '../iceberg/scan/assign-deletes.js';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import type { NestedField, Schema } from '../iceberg/spec/types.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import type { ObjectStore } from '../storage/object-store.js';
import { matchFile } from './column-mapping.js';
import { avroRowsOf } from './data-format.js';
import { deleteKeys } from './delete-keys.js';
import type { NameMapping } from './field-matching.js';
import { planDataFiles } from './plan-data-files.js';
import type { DeleteSet } from './table-scan.js';

export interface PlanDeletesOptions {
  readonly tableName: string;
  readonly store: ObjectStore;
  readonly footers: FooterCache;
  /** Where the columns of equality deletes are looked for, one after the other. */
  readonly schemas: readonly Schema[];
  readonly nameMapping: NameMapping | undefined;
  /** Of the query. */
  readonly filter: BoundFilter;
  readonly partitionValuesOf: (file: TableFile) => ReadonlyMap<number, JsonValue>;
  readonly signal?: AbortSignal | undefined;
}

export interface PlannedDeletes {
  readonly sets: readonly DeleteSet[];
  readonly fileCount: number;
  readonly bytes: number;
}

const positionKeys: readonly NestedField[] = [
  { id: filePathId, name: 'file_path', required: true, type: { kind: 'string' } },
  { id: positionId, name: 'pos', required: true, type: { kind: 'long' } },
];
/** For files whose writer left the ids out: the names are the specification's. */
const positionNames: NameMapping = positionKeys.map(({ id, name }) => ({
  fieldId: id,
  names: [name],
  fields: [],
}));

/** Throws what planning data files throws, naming the delete file. */
export async function planDeletes(
  { sets, partitionOf }: Pick<AssignedDeletes, 'sets' | 'partitionOf'>,
  options: PlanDeletesOptions,
): Promise<PlannedDeletes> {
  const planned: DeleteSet[] = [];
  let [fileCount, bytes] = [0, 0];
  for (const set of sets) {
    const isByPosition = set.kind === 'positions';
    const keys = isByPosition ? positionKeys : equalityKeys(set, options);
    const mapping = isByPosition ? positionNames : options.nameMapping;
    const { groups, counts } = await planDataFiles(
      set.files.map((file) => ({
        location: file.location,
        sizeBytes: file.sizeBytes,
        avroRows: avroRowsOf('delete', file, options.tableName),
        partitionValues: isByPosition ? new Map() : options.partitionValuesOf(file),
        origin: {
          sequenceNumber: file.sequenceNumber,
          partition: partitionOf(file),
          firstRowId: null,
        },
        deleteSets: [],
      })),
      {
        ...{ store: options.store, footers: options.footers, signal: options.signal, fields: keys },
        request: { columns: undefined, filters: [] },
        // A line that the query's filter does not want takes no row that it wants.
        filter: isByPosition ? always : onlyOnFields(options.filter, new Set(set.equalityIds)),
        match: (schema) => matchFile(schema, mapping),
      },
    );
    planned.push({ kind: set.kind, isScoped: set.isScoped, keys, groups });
    fileCount += counts.filesPlanned;
    bytes += counts.bytesPlanned;
  }
  return { sets: planned, fileCount, bytes };
}

function equalityKeys({ equalityIds, files }: DeleteFileSet, { schemas }: PlanDeletesOptions) {
  return deleteKeys(equalityIds, schemas, files[0]?.location ?? '');
}

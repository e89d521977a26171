/**
 * Plans the scan of one table snapshot: files are left out by their metadata, then row groups of the remaining files
 * by their footers, and each file's columns are mapped onto the table's. Nothing but metadata is read.
 */
import type { ScanRequest } from '@svc/sql';
import type { LoadedTable } from '../catalogs/catalog.js';
import type { DeletedRows } from '../deletes/deleted-rows.js';
import type { MetadataFiles } from '../iceberg/cache/metadata-files.js';
import type { DataFile, TableFile } from '../iceberg/manifests/data-file.js';
import type { DeletionVector } from '../iceberg/manifests/delete-file.js';
import { assignDeletes, type FileDeletes } from '../iceberg/scan/assign-deletes.js';
import { planFiles } from '../iceberg/scan/plan-files.js';
import type { SnapshotPin } from '../iceberg/scan/resolve-snapshot.js';
import { printJsonValue } from '../iceberg/spec/json-value.js';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import { readNameMapping } from '../iceberg/spec/name-mapping.js';
import type { NestedField } from '../iceberg/spec/types.js';
import { parseTransform } from '../iceberg/transforms/transform.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { matchFile } from './column-mapping.js';
import { avroRowsOf } from './data-format.js';
import { neededUnits } from './needed-units.js';
import { type DataFileToPlan, planDataFiles } from './plan-data-files.js';
import { planDeletes } from './plan-deletes.js';
import { RowCounter } from './row-counter.js';
import { type BoundUse, nothingKnown, type RowFacts } from './row-use.js';
import type { TableScan } from './table-scan.js';

export interface PlanScanOptions {
  /** `catalog.schema.table`, for messages. */
  readonly tableName: string;
  readonly manifests: MetadataFiles;
  readonly footers: FooterCache;
  /** Columns that the table does not name and the query does, behind its own: `lineageFields`. */
  readonly lineage?: readonly NestedField[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Throws what planFiles throws, and DATA_CORRUPT, DATA_FILE_MISSING or UNSUPPORTED_TABLE_FEATURE naming a data file
 * whose format or footer cannot be used.
 */
export async function planScan(
  table: LoadedTable,
  pin: SnapshotPin,
  request: ScanRequest,
  options: PlanScanOptions,
): Promise<TableScan> {
  const { manifests, footers, signal, tableName, lineage = [] } = options;
  const plan = await planFiles(table, pin, request, { files: manifests, ...(signal && { signal }) });
  const fields = [...plan.schema.fields, ...lineage];
  const nameMapping = readNameMapping(table.metadata);
  const { filter, use } = plan;
  const counter = use && new RowCounter(use);
  const assigned = await assignDeletes(plan.files, plan.deletes, signal);
  const partitionValuesOf = (file: TableFile) => new Map(identityValues(file));
  const { sets, fileCount, bytes } = await planDeletes(assigned, {
    ...{ tableName, store: table.store, footers, nameMapping, filter, partitionValuesOf, signal },
    schemas: [plan.schema, ...table.metadata.schemas.toReversed()],
  });
  const facts = plan.files.map((file, index) => factsOf(file, assigned.files[index]));
  const isNeeded = neededFiles(facts, use, counter);
  const files = plan.files.flatMap((file, index): readonly DataFileToPlan[] => {
    if (!isNeeded(index)) return [];
    const { vector, sets: deleteSets } = assigned.files[index] ?? noDeletes;
    const { sequenceNumber, firstRowId } = file;
    const isOriginNeeded = deleteSets.length > 0 || lineage.length > 0;
    const planned = {
      location: file.location,
      sizeBytes: file.sizeBytes,
      avroRows: avroRowsOf('data', file, tableName),
      partitionValues: partitionValuesOf(file),
      deletedRows: vector && deletedRowsOf(vector),
      deleteSets,
      ...(isOriginNeeded && {
        origin: {
          sequenceNumber,
          partition: deleteSets.length > 0 ? assigned.partitionOf(file) : 0,
          firstRowId,
        },
      }),
    };
    return [planned];
  });
  const { groups, counts } = await planDataFiles(files, {
    store: table.store,
    footers,
    fields,
    request,
    filter,
    match: (schema) => matchFile(schema, nameMapping),
    use,
    counter,
    deleteFields: sets.map(({ kind, keys }) => (kind === 'positions' ? [] : keys)),
    signal,
  });
  const counted = counter?.counted(fields);
  return {
    tableName,
    tableUuid: table.metadata.tableUuid,
    snapshotId: plan.snapshotId,
    columns: fields,
    groups,
    ...(counted && { counted }),
    ...(sets.length > 0 && { deletes: sets }),
    counts: {
      ...counts,
      ...(fileCount > 0 && { deleteFilesPlanned: fileCount }),
      bytesPlanned: counts.bytesPlanned + bytes,
      manifestsTotal: plan.counts.manifestsTotal,
      manifestsRead: plan.counts.manifestsRead,
      filesTotal: plan.counts.filesTotal,
      filesPruned: plan.counts.filesTotal - counts.filesPlanned,
      bytesTotal: plan.counts.bytesTotal,
    },
  };
}

const noDeletes = { vector: undefined, sets: [] };

/** Of how many rows some are deleted, nobody knows yet how many are left, nor which. */
function factsOf(file: DataFile, deletes: FileDeletes | undefined): RowFacts {
  const facts = file.facts ?? nothingKnown;
  const { vector, sets } = deletes ?? noDeletes;
  return vector === undefined && sets.length === 0 ? facts : { ...facts, isKeptWhole: false };
}

function neededFiles(
  facts: readonly RowFacts[],
  use: BoundUse | undefined,
  counter: RowCounter | undefined,
): (index: number) => boolean {
  if (use === undefined) return () => true;
  const isNeeded = neededUnits(
    facts.map((each) => [each]),
    use,
    counter,
  );
  return (index) => isNeeded[index]?.[0] ?? true;
}

/** The bytes of a vector are Delta's: see BitmapPlace. */
function deletedRowsOf({ recordCount, location, start, end }: DeletionVector): DeletedRows {
  return { rowCount: recordCount, bitmap: { kind: 'stored', location, start, end } };
}

/** Partition values that are their columns' own values. */
function identityValues({ partition, partitionSpec }: TableFile): readonly (readonly [number, JsonValue])[] {
  return partitionSpec.spec.fields.flatMap((field, slot) => {
    const [sourceId] = field.sourceIds;
    const [type, value] = [partitionSpec.types[slot], partition[slot]];
    if (sourceId === undefined || type === undefined || value === undefined) return [];
    return parseTransform(field.transform).kind === 'identity'
      ? [[sourceId, printJsonValue(type, value)]]
      : [];
  });
}

/**
 * Plans the scan of one table snapshot: files are left out by their metadata, then row groups of the remaining files
 * by their footers, and each file's columns are mapped onto the table's. Nothing but metadata is read.
 */
import type { ScanRequest } from '@svc/sql';
import type { LoadedTable } from '../catalogs/catalog.js';
import type { MetadataFiles } from '../iceberg/cache/metadata-files.js';
import { bindFilters } from '../iceberg/expressions/bind-filter.js';
import type { DataFile } from '../iceberg/manifests/data-file.js';
import { planFiles } from '../iceberg/scan/plan-files.js';
import type { SnapshotPin } from '../iceberg/scan/resolve-snapshot.js';
import { printJsonValue } from '../iceberg/spec/json-value.js';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import { readNameMapping } from '../iceberg/spec/name-mapping.js';
import { parseTransform } from '../iceberg/transforms/transform.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { matchFile } from './column-mapping.js';
import { neededUnits } from './needed-units.js';
import { planDataFiles } from './plan-data-files.js';
import { RowCounter } from './row-counter.js';
import { type BoundUse, bindUse, nothingKnown } from './row-use.js';
import type { TableScan } from './table-scan.js';

export interface PlanScanOptions {
  /** `catalog.schema.table`, for messages. */
  readonly tableName: string;
  readonly manifests: MetadataFiles;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Throws what planFiles throws, and DATA_CORRUPT, DATA_FILE_MISSING or UNSUPPORTED_TABLE_FEATURE naming a data file
 * whose footer cannot be used.
 */
export async function planScan(
  table: LoadedTable,
  pin: SnapshotPin,
  request: ScanRequest,
  options: PlanScanOptions,
): Promise<TableScan> {
  const { manifests, footers, signal, tableName } = options;
  const plan = await planFiles(table, pin, request, { files: manifests, ...(signal && { signal }) });
  const { fields } = plan.schema;
  const nameMapping = readNameMapping(table.metadata);
  const use = bindUse(request, fields);
  const counter = use && new RowCounter(use);
  const files = neededFiles(plan.files, use, counter).map((file) => ({
    location: file.location,
    partitionValues: new Map(identityValues(file)),
  }));
  const { groups, counts } = await planDataFiles(files, {
    store: table.store,
    footers,
    fields,
    request,
    filter: bindFilters(request.filters, fields),
    match: (schema) => matchFile(schema, nameMapping),
    use,
    counter,
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
    counts: {
      ...counts,
      manifestsTotal: plan.counts.manifestsTotal,
      manifestsRead: plan.counts.manifestsRead,
      filesTotal: plan.counts.filesTotal,
      filesPruned: plan.counts.filesTotal - counts.filesPlanned,
      bytesTotal: plan.counts.bytesTotal,
    },
  };
}

function neededFiles(
  files: readonly DataFile[],
  use: BoundUse | undefined,
  counter: RowCounter | undefined,
): readonly DataFile[] {
  if (use === undefined) return files;
  const facts = files.map((file) => [file.facts ?? nothingKnown]);
  const isNeeded = neededUnits(facts, use, counter);
  return files.filter((_file, index) => isNeeded[index]?.[0]);
}

/** Partition values that are their columns' own values. */
function identityValues({ partition, partitionSpec }: DataFile): readonly (readonly [number, JsonValue])[] {
  return partitionSpec.spec.fields.flatMap((field, slot) => {
    const [sourceId] = field.sourceIds;
    const [type, value] = [partitionSpec.types[slot], partition[slot]];
    if (sourceId === undefined || type === undefined || value === undefined) return [];
    return parseTransform(field.transform).kind === 'identity'
      ? [[sourceId, printJsonValue(type, value)]]
      : [];
  });
}

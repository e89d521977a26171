export type { Catalog, CatalogOptions, LoadedTable, Namespace, TableIdentifier } from './catalogs/catalog.js';
export { commitWithRetry } from './catalogs/commit-with-retry.js';
export {
  createFileSystemCatalog,
  type FileSystemCatalogOptions,
} from './catalogs/file-system/file-system-catalog.js';
export {
  type ParquetFileToRegister,
  type RegisteredTable,
  type RegisterParquetTableOptions,
  registerParquetTable,
} from './catalogs/file-system/register-parquet-table.js';
export type {
  ListedRelation,
  LoadedView,
  StagedTable as StagedNewTable,
  WritableCatalog,
} from './catalogs/writable-catalog.js';
export { createMetadataFiles, type MetadataFiles } from './iceberg/cache/metadata-files.js';
export {
  type FilePlan,
  type FilePlanCounts,
  type PlanFilesOptions,
  planFiles,
} from './iceberg/scan/plan-files.js';
export { resolveSnapshot, type SnapshotPin, schemaById } from './iceberg/scan/resolve-snapshot.js';
export type { TableMetadata } from './iceberg/spec/table-metadata.js';
export type {
  IcebergType,
  ListType,
  MapType,
  NestedField,
  PrimitiveType,
  PrimitiveTypeName,
  Schema,
  StructType,
} from './iceberg/spec/types.js';
export type { PrimitiveValue } from './iceberg/spec/values.js';
export { applyTransform } from './iceberg/transforms/apply-transform.js';
export { parseTransform, type Transform, transformResultType } from './iceberg/transforms/transform.js';
export { sqlOfView, type ViewDefinition, viewDialect } from './iceberg/views/view-metadata.js';
export { createAppend } from './iceberg/write/append-files.js';
export type { ColumnDefinition } from './iceberg/write/column-definition.js';
export type { TableDefinition } from './iceberg/write/create-table.js';
export type { PartitionDefinition } from './iceberg/write/new-partition-spec.js';
export { type TableToWrite, tableFolders } from './iceberg/write/table-place.js';
export { conformDataFiles } from './parquet/conform/conform-data-files.js';
export { describeDataFile } from './parquet/describe-data-file.js';
export { createFooterCache, type FooterCache } from './parquet/footer-cache.js';
export { inspectParquet } from './parquet/inspect-parquet.js';
export { type DirectRead, planDirectRead } from './scan/direct-read.js';
export { planScan } from './scan/plan-scan.js';
export type {
  ColumnConversion,
  ColumnSource,
  FileGroup,
  FileScan,
  ScanCounts,
  TableScan,
} from './scan/table-scan.js';
export { type StagedGroup, type StagedTable, stageScan } from './staging/stage-scan.js';
export { openStagingCache, type StagingCache } from './staging/staging-cache.js';
export { createFileStore } from './storage/file-store.js';
export type { ByteRange, ListEntry, ObjectInfo, ObjectStore, ReadOptions } from './storage/object-store.js';

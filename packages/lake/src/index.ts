export type { Catalog, CatalogOptions, LoadedTable, Namespace, TableIdentifier } from './catalogs/catalog.js';
export type { CatalogCaller, CatalogClient, CatalogFactory } from './catalogs/catalog-factory.js';
export { commitOnce } from './catalogs/commit-once.js';
export { commitWithRetry } from './catalogs/commit-with-retry.js';
export {
  createFileSystemCatalog,
  createFileSystemCatalogs,
  type FileSystemCatalogOptions,
} from './catalogs/file-system/file-system-catalog.js';
export {
  type ParquetFileToRegister,
  type RegisteredTable,
  type RegisterParquetTableOptions,
  registerParquetTable,
} from './catalogs/file-system/register-parquet-table.js';
export { quotedPath } from './catalogs/name-errors.js';
export { suggestNames } from './catalogs/near-names.js';
export type {
  ColumnAction,
  ReadRestrictions,
  RestrictedColumn,
  RestrictionExpression,
} from './catalogs/read-restrictions.js';
export { createRestCatalogs } from './catalogs/rest/rest-catalog.js';
export type {
  ListedRelation,
  ListingOptions,
  LoadedView,
  StagedTable as StagedNewTable,
  WritableCatalog,
} from './catalogs/writable-catalog.js';
export {
  type DeletedRows,
  deletionColumns,
  positionColumns,
  reservedPrefix,
} from './deletes/deleted-rows.js';
export { isDeltaTable, type LoadDeltaTableOptions, loadDeltaTable } from './delta/load-delta-table.js';
export { type PlanDeltaScanOptions, planDeltaScan } from './delta/plan-delta-scan.js';
export type { DeltaTable } from './delta/table/delta-table.js';
export { metadataBytes } from './iceberg/cache/metadata-bytes.js';
export { createMetadataFiles, type MetadataFiles } from './iceberg/cache/metadata-files.js';
export type { Cell, MetadataTable } from './iceberg/inspect/metadata-table.js';
export {
  isMetadataTableKind,
  openMetadataTable,
  splitMetadataName,
} from './iceberg/inspect/open-metadata-table.js';
export {
  type FilePlan,
  type FilePlanCounts,
  type PlanFilesOptions,
  planFiles,
} from './iceberg/scan/plan-files.js';
export { resolveSnapshot, type SnapshotPin, schemaById } from './iceberg/scan/resolve-snapshot.js';
export { isJsonNumber, type JsonValue, parseJson, printJson } from './iceberg/spec/lossless-json.js';
export { lineageFields } from './iceberg/spec/row-lineage.js';
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
export { checkAppendable, createAppend } from './iceberg/write/append-files.js';
export type { ColumnDefinition } from './iceberg/write/column-definition.js';
export type { TableDefinition } from './iceberg/write/create-table.js';
export type { PartitionDefinition } from './iceberg/write/new-partition-spec.js';
export { createReplacement, replacedTable } from './iceberg/write/replace-table.js';
export { type TableToWrite, tableFolders } from './iceberg/write/table-place.js';
export { conformDataFiles } from './parquet/conform/conform-data-files.js';
export { describeDataFile } from './parquet/describe-data-file.js';
export { createFooterCache, type FooterCache } from './parquet/footer-cache.js';
export { inspectParquet } from './parquet/inspect-parquet.js';
export { type DirectRead, planDirectRead } from './scan/direct-read.js';
export { type KeyPruning, keyPruning } from './scan/key-pruning.js';
export { type NarrowScanOptions, narrowScan } from './scan/narrow-scan.js';
export { type PlanParquetFileOptions, planParquetFile } from './scan/plan-parquet-file.js';
export { planScan } from './scan/plan-scan.js';
export type {
  AppliedDeletes,
  ColumnConversion,
  ColumnSource,
  CountedRows,
  DeleteSet,
  FileGroup,
  FileOrigin,
  FileScan,
  ScanCounts,
  TableScan,
} from './scan/table-scan.js';
export { type DivideScanOptions, divideScan } from './staging/divide-scan.js';
export { rowDeltaName } from './staging/row-delta.js';
export { bytesToFetch, type ScanToStage, splitScans } from './staging/split-scan.js';
export { type StagedDeletes, type StagedGroup, type StagedTable, stageScan } from './staging/stage-scan.js';
export { openStagingCache, type StagingCache } from './staging/staging-cache.js';
export { ByteBudget } from './storage/byte-budget.js';
export { displayLocation } from './storage/display-location.js';
export { createFileStore } from './storage/file-store.js';
export { createHttpStore, type HttpStoreOptions } from './storage/http/http-store.js';
export {
  createLocationStore,
  type LocationScheme,
  type StoresByScheme,
  schemeOf,
} from './storage/location-store.js';
export { mapConcurrently } from './storage/map-concurrently.js';
export type { ByteRange, ListEntry, ObjectInfo, ObjectStore, ReadOptions } from './storage/object-store.js';
export { type OpenGrantedOptions, openGranted } from './storage/open-granted.js';
export { type Connections, createConnections } from './storage/remote/connections.js';
export { StorageTraffic } from './storage/remote/storage-traffic.js';
export type { S3CredentialProvider, S3Credentials } from './storage/s3/renewing-credentials.js';
export { loadS3Client, type S3Access } from './storage/s3/s3-connection.js';
export { createS3Signer, type S3Signer, type S3SignerOptions } from './storage/s3/s3-signer.js';
export { createS3Store, type S3StoreOptions } from './storage/s3/s3-store.js';
export type { GrantedPrefix, GrantedS3, StoreGrant } from './storage/store-grant.js';
export { syncFolder } from './storage/sync-folder.js';
export { writeSynced } from './storage/write-synced.js';

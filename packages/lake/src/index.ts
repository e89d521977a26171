export type { Catalog, CatalogOptions, LoadedTable, Namespace, TableIdentifier } from './catalogs/catalog.js';
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
export type { ColumnSource, FileGroup, FileScan, ScanCounts, TableScan } from './scan/table-scan.js';
export { createFileStore } from './storage/file-store.js';
export type { ByteRange, ListEntry, ObjectInfo, ObjectStore, ReadOptions } from './storage/object-store.js';

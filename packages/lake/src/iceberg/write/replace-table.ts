/**
 * CREATE OR REPLACE: a table becomes another one in one commit (Iceberg's replace-table transaction). UUID, location and
 * history stay, so readers of a snapshot keep it and the old rows are one version back; schema, partition spec, sort order
 * and rows are new. Columns keep their field ids by name, and no id is used again for anything else.
 */
import { QueryError } from '@svc/base';
import { applyUpdates } from '../changes/apply-updates.js';
import { newestWrittenFormat } from '../changes/metadata-draft.js';
import { lastAdded, mainBranch, type TableCommit, type TableUpdate } from '../changes/table-change.js';
import { schemaById } from '../scan/resolve-snapshot.js';
import { printJson } from '../spec/lossless-json.js';
import { printPartitionSpec } from '../spec/partition-spec.js';
import { printSchema } from '../spec/schema-json.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { type AppendOptions, createAppend } from './append-files.js';
import { assignFieldIds } from './column-definition.js';
import { definedFormatVersion, definedProperties, type TableDefinition } from './create-table.js';
import { nextPartitionSpec } from './next-partition-spec.js';
import type { TableToWrite } from './table-place.js';

export interface ReplaceOptions
  extends Pick<AppendOptions, 'store' | 'files' | 'dataFiles' | 'summary' | 'now'> {
  readonly definition: TableDefinition;
  /** What `replacedTable` answered, which the files were written for. */
  readonly target: TableToWrite;
  /** The current snapshot that the new rows were read from, where they come from this very table. */
  readonly readFrom?: { readonly snapshotId: bigint | undefined } | undefined;
}

/** A change for `commitWithRetry`. */
export interface Replacement {
  prepare(table: TableToWrite, options?: { readonly signal?: AbortSignal }): Promise<TableCommit>;
  cleanUp(committed: TableMetadata | undefined): Promise<void>;
}

/** The table as it will be, still without rows. Throws what `newTable` throws, UNSUPPORTED_TABLE_FEATURE. */
export function replacedTable<Table extends TableToWrite>(table: Table, definition: TableDefinition): Table {
  const { metadata } = table;
  const changed = applyUpdates(metadata, replaceUpdates(metadata, definition), metadata.lastUpdatedMs);
  return { ...table, metadata: { ...changed, currentSnapshotId: undefined } };
}

/**
 * Whoever commits in between is overtaken: their rows are part of the history. Only when the new rows come from the table
 * itself would they be lost: then, and when the table has got other columns than the files were written for, `prepare`
 * throws a COMMIT_CONFLICT that is not retryable.
 */
export function createReplacement(options: ReplaceOptions): Replacement {
  const { definition, target, readFrom } = options;
  const { tableUuid, defaultSpecId, currentSchemaId } = target.metadata;
  const append = createAppend({ ...options, tableUuid, specId: defaultSpecId, schemaId: currentSchemaId });
  return {
    cleanUp: append.cleanUp,
    async prepare(table, prepareOptions) {
      const { metadata } = table;
      const replaced = replacedTable(table, definition);
      const isSame = definitionOf(replaced.metadata) === definitionOf(target.metadata);
      if (metadata.tableUuid === tableUuid && !isSame)
        throw conflict(metadata, 'was altered by another writer while rows for it were written');
      if (readFrom !== undefined && readFrom.snapshotId !== metadata.currentSnapshotId)
        throw conflict(metadata, 'was changed by another writer after the query had read it');
      const { updates } = await append.prepare(replaced, prepareOptions);
      return {
        requirements: [
          ...(tableUuid === '' ? [] : [{ type: 'assert-table-uuid', uuid: tableUuid } as const]),
          {
            type: 'assert-ref-snapshot-id',
            ref: mainBranch,
            snapshotId: metadata.refs.get(mainBranch)?.snapshotId,
          },
          { type: 'assert-last-assigned-field-id', lastAssignedFieldId: metadata.lastColumnId },
          { type: 'assert-current-schema-id', currentSchemaId: metadata.currentSchemaId },
          { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: metadata.lastPartitionId },
          { type: 'assert-default-spec-id', defaultSpecId: metadata.defaultSpecId },
          { type: 'assert-default-sort-order-id', defaultSortOrderId: metadata.defaultSortOrderId },
        ],
        updates: [...replaceUpdates(metadata, definition), ...updates],
      };
    },
  };
}

/** Properties stay unless they are set anew, as they say how the table is kept; its comment says what it was. */
function replaceUpdates(metadata: TableMetadata, definition: TableDefinition): readonly TableUpdate[] {
  const formatVersion = definedFormatVersion(definition) ?? metadata.formatVersion;
  if (formatVersion > newestWrittenFormat)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The table at ${metadata.location} has format version ${formatVersion}; tables of versions 1 and 2 are replaced.`,
    );
  const properties = new Map(Object.entries(definedProperties(definition)));
  const { lastColumnId: last } = metadata;
  const existing = { fields: schemaById(metadata, undefined).fields, lastColumnId: last };
  const { fields, lastColumnId } = assignFieldIds(definition.columns, formatVersion, existing);
  const schema = { schemaId: 0, fields, identifierFieldIds: [] };
  const losesComment = metadata.properties.has('comment') && !properties.has('comment');
  return [
    ...(formatVersion === metadata.formatVersion
      ? []
      : [{ action: 'upgrade-format-version', formatVersion } as const]),
    { action: 'add-schema', schema, lastColumnId },
    { action: 'set-current-schema', schemaId: lastAdded },
    {
      action: 'add-spec',
      spec: nextPartitionSpec(metadata, fields, definition.partitions ?? [], formatVersion),
    },
    { action: 'set-default-spec', specId: lastAdded },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: lastAdded },
    ...(losesComment ? [{ action: 'remove-properties', removals: ['comment'] } as const] : []),
    ...(properties.size === 0 ? [] : [{ action: 'set-properties', updates: properties } as const]),
  ];
}

/** What a data file and its manifest depend on. */
function definitionOf(metadata: TableMetadata): string {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const schema = printJson(printSchema(schemaById(metadata, undefined)));
  return `${metadata.formatVersion} ${schema} ${spec === undefined ? '' : printJson(printPartitionSpec(spec))}`;
}

function conflict({ location }: TableMetadata, problem: string): QueryError {
  const message = `The table at ${location} ${problem}: it was not replaced.`;
  return new QueryError('COMMIT_CONFLICT', message, { retryable: false });
}

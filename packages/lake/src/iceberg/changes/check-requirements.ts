import { QueryError } from '@svc/base';
import type { TableMetadata } from '../spec/table-metadata.js';
import type { TableRequirement } from './table-change.js';

/**
 * Throws when a requirement does not hold for the table as it is now; `metadata` is `undefined` when there is none.
 * ALREADY_EXISTS, TABLE_NOT_FOUND; COMMIT_CONFLICT otherwise, retryable when trying again from the table as it is
 * now may succeed.
 */
export function checkRequirements(
  metadata: TableMetadata | undefined,
  requirements: readonly TableRequirement[],
  tableName: string,
): void {
  for (const requirement of requirements) checkRequirement(metadata, requirement, tableName);
}

function checkRequirement(
  metadata: TableMetadata | undefined,
  requirement: TableRequirement,
  tableName: string,
): void {
  if (requirement.type === 'assert-create') {
    if (metadata === undefined) return;
    throw new QueryError('ALREADY_EXISTS', `Table ${tableName} exists already.`);
  }
  if (metadata === undefined)
    throw new QueryError('TABLE_NOT_FOUND', `Table ${tableName} does not exist any more.`);
  const conflict = (what: string, expected: unknown, found: unknown): void => {
    if (expected === found) return;
    throw new QueryError(
      'COMMIT_CONFLICT',
      `Table ${tableName} was changed by another writer: its ${what} is ${found ?? 'none'} instead of ${expected ?? 'none'}.`,
    );
  };
  switch (requirement.type) {
    case 'assert-table-uuid':
      if (metadata.tableUuid.toLowerCase() === requirement.uuid.toLowerCase()) break;
      throw new QueryError(
        'COMMIT_CONFLICT',
        `Table ${tableName} was dropped and made anew by another writer: nothing was changed.`,
        { retryable: false },
      );
    case 'assert-ref-snapshot-id': {
      const { ref, snapshotId } = requirement;
      conflict(`snapshot of ${JSON.stringify(ref)}`, snapshotId, metadata.refs.get(ref)?.snapshotId);
      break;
    }
    case 'assert-last-assigned-field-id':
      conflict('last column id', requirement.lastAssignedFieldId, metadata.lastColumnId);
      break;
    case 'assert-current-schema-id':
      conflict('current schema', requirement.currentSchemaId, metadata.currentSchemaId);
      break;
    case 'assert-last-assigned-partition-id':
      conflict('last partition field id', requirement.lastAssignedPartitionId, metadata.lastPartitionId);
      break;
    case 'assert-default-spec-id':
      conflict('partition spec', requirement.defaultSpecId, metadata.defaultSpecId);
      break;
    case 'assert-default-sort-order-id':
      conflict('sort order', requirement.defaultSortOrderId, metadata.defaultSortOrderId);
      break;
  }
}

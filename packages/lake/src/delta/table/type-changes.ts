import { QueryError } from '@svc/base';
import type { JsonFields } from '../../iceberg/spec/json-fields.js';

const changesKey = 'delta.typeChanges';
const integers = ['byte', 'short', 'integer', 'long'];

/**
 * Whether the column or something in it had another type before (protocol, "Type Widening"). Throws
 * UNSUPPORTED_TABLE_FEATURE for a change after which older files would not be read as the protocol says.
 */
export function checkTypeChanges(metadata: JsonFields, column: string): boolean {
  const changes = metadata.optionalObjects(changesKey) ?? [];
  for (const change of changes) {
    const from = change.string('fromType');
    const to = change.string('toType');
    if (!isRead(from, to))
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `Column ${column} was changed from ${from} to ${to} (reader feature typeWidening), a change that this version does not read.`,
      );
  }
  return changes.length > 0;
}

function isRead(from: string, to: string): boolean {
  if (integers.includes(from)) return integers.indexOf(to) >= integers.indexOf(from);
  if (from === 'float') return to === 'double';
  if (from === 'date') return to === 'timestamp_ntz';
  const scale = /^decimal\(\d+,\s*(\d+)\)$/;
  const before = scale.exec(from)?.[1];
  return before !== undefined && before === scale.exec(to)?.[1];
}

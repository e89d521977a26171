/** Keys that the engine answered, as a filter of another table. */
import type { Literal, ScanFilter } from '@svc/sql';
import type { FragmentJoinKeys } from '../request.js';

export interface KeyRange {
  readonly low: string | null;
  readonly high: string | null;
}

export interface KeyList extends KeyRange {
  readonly rows: number;
  readonly keys: readonly string[] | null;
}

/** Without keys nothing passes. */
export function listFilter({ target, source }: FragmentJoinKeys, keys: readonly string[]): ScanFilter {
  return { kind: 'in', column: [target.name], literals: keys.map((key) => keyLiteral(key, source.type)) };
}

/** From the least to the greatest; without any key nothing passes. */
export function rangeFilter(join: FragmentJoinKeys, { low, high }: KeyRange): ScanFilter {
  if (low === null || high === null) return listFilter(join, []);
  const column = [join.target.name];
  const { type } = join.source;
  return {
    kind: 'and',
    filters: [
      { kind: 'compare', column, operator: '>=', literal: keyLiteral(low, type) },
      { kind: 'compare', column, operator: '<=', literal: keyLiteral(high, type) },
    ],
  };
}

function keyLiteral(text: string, type: string): Literal {
  if (type === 'VARCHAR') return { type, value: text };
  if (type === 'UUID') return { type, value: Buffer.from(text.replaceAll('-', ''), 'hex') };
  return { type, value: BigInt(text.replace('.', '')) };
}

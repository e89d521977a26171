/** Policies name columns as they are called now. */
import type { NestedField } from '@svc/lake';

type Column = Pick<NestedField, 'id' | 'name'>;

/**
 * Whether a name would mean another column at a former point of a table's history: its own column was called otherwise then, and
 * there was another one of that name. What is called like none of them is missed when the policy is applied.
 */
export function meanOtherColumns(now: readonly Column[], then: readonly Column[]): boolean {
  const formerNames = new Map(then.map(({ id, name }) => [id, name.toLowerCase()]));
  const taken = new Set(formerNames.values());
  return now.some(({ id, name }) => {
    const former = formerNames.get(id);
    return former !== undefined && former !== name.toLowerCase() && taken.has(name.toLowerCase());
  });
}

/** Whether a plan computes other things in another time zone of the session. */
import type { LogicalType } from '../plan/logical-type.js';
import type { PlanNode } from '../plan/plan-node.js';

/** Of values with a time zone, these ask for the moment only, or say in which zone. */
const zoneless: ReadonlySet<string> = new Set([
  'epoch',
  'epoch_ms',
  'epoch_ns',
  'epoch_us',
  'greatest',
  'least',
]);

/**
 * True also of much that does not depend on it: whatever is computed of such values, but comparisons and aggregates. Constants are computed
 * already: whether these depend on the zone only a plan in another one tells.
 */
export function dependsOnTimeZone(plan: PlanNode): boolean {
  return isZoned(plan);
}

/** Of all that a plan is made of: nodes, expressions, filters and lists of them. */
function isZoned(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(isZoned);
  if (typeof part !== 'object' || part === null) return false;
  const { kind } = part as { readonly kind?: unknown };
  if (kind === 'cast' && isZonedCast(part as Cast)) return true;
  if (kind === 'function' && isZonedCall(part as Call)) return true;
  return Object.entries(part).some(([name, each]) => name !== 'bindData' && isZoned(each));
}

interface Typed {
  readonly type?: LogicalType;
}

interface Cast {
  readonly type: LogicalType;
  readonly child: Typed;
}

interface Call {
  readonly name: string;
  readonly type: LogicalType;
  readonly children: readonly Typed[];
}

function isZonedCast({ type, child }: Cast): boolean {
  return (hasZone(type) || hasZone(child.type)) && JSON.stringify(type) !== JSON.stringify(child.type);
}

function isZonedCall({ name, type, children }: Call): boolean {
  const saysZone = name === 'timezone' && children.length === 2;
  return !saysZone && !zoneless.has(name) && [type, ...children.map((child) => child.type)].some(hasZone);
}

function hasZone(type: LogicalType | undefined): boolean {
  switch (type?.kind) {
    case undefined:
    case 'decimal':
      return false;
    case 'plain':
      return type.id.endsWith(' WITH TIME ZONE');
    case 'list':
    case 'array':
      return hasZone(type.child);
    case 'map':
      return hasZone(type.key) || hasZone(type.value);
    case 'struct':
      return type.fields.some((field) => hasZone(field.type));
    case 'other':
      return type.id !== 'ENUM';
  }
}

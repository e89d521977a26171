import { QueryError } from '@svc/base';
import type { ArrowField } from '@svc/engine';
import type { IcebergType, NestedField } from '@svc/lake';

/** Whether a cast to the type could lose a field: the engine leaves out those that the type does not have. */
export function hasStructs(type: IcebergType): boolean {
  switch (type.kind) {
    case 'struct':
      return true;
    case 'list':
      return hasStructs(type.element);
    case 'map':
      return hasStructs(type.key) || hasStructs(type.value);
    default:
      return false;
  }
}

/** Throws BINDING_ERROR naming a field of the query's value that the table's column has no place for. */
export function assertNoFieldIsLost({ name, type }: NestedField, source: ArrowField): void {
  const lost = lostField(type, source, name);
  if (lost === undefined) return;
  throw new QueryError(
    'BINDING_ERROR',
    `Column ${JSON.stringify(name)} cannot take the values of the query: they have a field ${JSON.stringify(lost)}, and the column has not.`,
  );
}

/** Path of the first field without a place. What is of another kind is for the cast to judge. */
function lostField(type: IcebergType, source: ArrowField, path: string): string | undefined {
  const { kind } = source.type;
  if (type.kind === 'struct' && kind === 'struct') {
    const targets = new Map(type.fields.map((field) => [field.name.toLowerCase(), field]));
    for (const child of source.children) {
      // ROW(1, 2) has no names: it is cast by position.
      if (child.name === '') continue;
      const target = targets.get(child.name.toLowerCase());
      const lost =
        target === undefined
          ? `${path}.${child.name}`
          : lostField(target.type, child, `${path}.${target.name}`);
      if (lost !== undefined) return lost;
    }
    return undefined;
  }
  const [item] = source.children;
  if (item === undefined) return undefined;
  if (type.kind === 'list' && (kind === 'list' || kind === 'fixedList'))
    return lostField(type.element, item, `${path}.element`);
  const [key, value] = item.children;
  if (type.kind !== 'map' || kind !== 'map' || key === undefined || value === undefined) return undefined;
  return lostField(type.key, key, `${path}.key`) ?? lostField(type.value, value, `${path}.value`);
}

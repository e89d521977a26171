/** How much is kept of each column's metrics (Iceberg documentation, "Configuration", `write.metadata.metrics.*`). */
import { QueryError } from '@svc/base';
import { clip } from '../spec/lossless-json.js';
import type { IcebergType, Schema } from '../spec/types.js';

export type MetricsMode =
  | { readonly kind: 'none' | 'counts' | 'full' }
  /** Bounds of text and binary are cut to so many characters or bytes. */
  | { readonly kind: 'truncate'; readonly length: number };

export const defaultMetricsMode: MetricsMode = { kind: 'truncate', length: 16 };

const defaultProperty = 'write.metadata.metrics.default';
const columnPrefix = 'write.metadata.metrics.column.';
const maxColumnsProperty = 'write.metadata.metrics.max-inferred-column-defaults';
const maxColumns = 100;

/**
 * The modes by field id. Without a default of its own a table has metrics of its first hundred columns only, counted
 * level by level. A mode that does not parse counts as not set.
 */
export function metricsModes(
  schema: Schema,
  properties: ReadonlyMap<string, string>,
): ReadonlyMap<number, MetricsMode> {
  const byDefault = parseMetricsMode(properties.get(defaultProperty));
  const limit = Number(/^\d{1,9}$/.exec(properties.get(maxColumnsProperty) ?? '')?.[0] ?? maxColumns);
  const modes = new Map<number, MetricsMode>();
  for (const [index, { id, path }] of columnsByLevel(schema).entries()) {
    const inferred = index < limit ? defaultMetricsMode : ({ kind: 'none' } as const);
    const own = parseMetricsMode(properties.get(columnPrefix + path));
    modes.set(id, own ?? byDefault ?? inferred);
  }
  return modes;
}

/** Throws INVALID_ARGUMENT for a mode that does not parse. */
export function checkMetricsModes(properties: ReadonlyMap<string, string>): void {
  for (const [key, text] of properties) {
    if (key !== defaultProperty && !key.startsWith(columnPrefix)) continue;
    if (parseMetricsMode(text) === undefined)
      throw new QueryError(
        'INVALID_ARGUMENT',
        `The table property ${clip(key, 200)} is ${JSON.stringify(clip(text, 60))}; it must be none, counts, truncate(length) or full.`,
      );
  }
}

function parseMetricsMode(text: string | undefined): MetricsMode | undefined {
  const name = text?.trim().toLowerCase();
  if (name === 'none' || name === 'counts' || name === 'full') return { kind: name };
  const [, length] = /^truncate\((\d{1,9})\)$/.exec(name ?? '') ?? [];
  return length === undefined || Number(length) === 0
    ? undefined
    : { kind: 'truncate', length: Number(length) };
}

interface Column {
  readonly id: number;
  readonly path: string;
}

/** The columns that hold values, those of a level before those inside them. */
function columnsByLevel(schema: Schema): readonly Column[] {
  const columns: Column[] = [];
  let level: (Column & { readonly type: IcebergType })[] = schema.fields.map(({ id, name, type }) => ({
    id,
    path: name,
    type,
  }));
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { id, path, type } of level) {
      if (type.kind === 'struct')
        for (const field of type.fields)
          next.push({ id: field.id, path: `${path}.${field.name}`, type: field.type });
      else if (type.kind === 'list')
        next.push({ id: type.elementId, path: `${path}.element`, type: type.element });
      else if (type.kind === 'map')
        next.push(
          { id: type.keyId, path: `${path}.key`, type: type.key },
          { id: type.valueId, path: `${path}.value`, type: type.value },
        );
      else columns.push({ id, path });
    }
    level = next;
  }
  return columns;
}

/** What shape a table has, as a REST catalog tells of it. */

/** As in an answer of a catalog. */
export interface LoadedTable {
  readonly 'metadata-location': string;
  readonly metadata: {
    readonly 'format-version': number;
    readonly schemas: readonly unknown[];
    readonly 'partition-specs': readonly { readonly fields: readonly { readonly transform: string }[] }[];
    readonly 'current-snapshot-id': number;
    readonly snapshots: readonly {
      readonly 'snapshot-id': number;
      readonly summary: Readonly<Record<string, string>>;
    }[];
  };
}

/** Undefined when there is none of that name; a view is no table. */
export async function loadedTable(catalogUrl: string, table: string): Promise<LoadedTable | undefined> {
  const [namespace, name] = table.split('.');
  const response = await fetch(`${catalogUrl}/v1/namespaces/${namespace}/tables/${name}`);
  const text = await response.text();
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`The catalog answers ${response.status} for ${table}: ${text}`);
  const loaded: LoadedTable = JSON.parse(text);
  return loaded;
}

/** Such as `v2 none then bucket[3], positions, changed schema`; its name says in which format it is. */
export async function shapeOf(catalogUrl: string, table: string): Promise<string> {
  const loaded = await loadedTable(catalogUrl, table);
  if (loaded === undefined) return 'a view';
  const { metadata } = loaded;
  const [, format] = /_(orc|avro)$/.exec(table) ?? [];
  const specs = metadata['partition-specs'].map(
    ({ fields }) => fields.map(({ transform }) => transform).join(' and ') || 'none',
  );
  const parts = [`v${metadata['format-version']} ${specs.join(' then ')}`, ...deletesOf(metadata)];
  if (metadata.schemas.length > 1) parts.push('changed schema');
  if (format !== undefined) parts.push(format);
  return parts.join(', ');
}

function deletesOf(metadata: LoadedTable['metadata']): readonly string[] {
  const current = metadata.snapshots.find((each) => each['snapshot-id'] === metadata['current-snapshot-id']);
  const positions = metadata['format-version'] === 3 ? 'vectors' : 'positions';
  return Object.entries({ 'total-position-deletes': positions, 'total-equality-deletes': 'equality' })
    .filter(([total]) => Number(current?.summary[total] ?? 0) > 0)
    .map(([, name]) => name);
}

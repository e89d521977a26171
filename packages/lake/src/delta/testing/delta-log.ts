/** Delta logs in memory, for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryStore } from '../../parquet/fakes/memory-store.js';
import { commitName } from '../log/log-names.js';

export const root = 's3://bucket/table';

export const protocol = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };

export function metadata(
  fields: readonly object[] = [field('id', 'long')],
  more: Readonly<Record<string, unknown>> = {},
): object {
  return {
    metaData: {
      id: 'u-1',
      format: { provider: 'parquet' },
      schemaString: JSON.stringify({ type: 'struct', fields }),
      partitionColumns: [],
      configuration: {},
      ...more,
    },
  };
}

export function field(name: string, type: unknown, fieldMetadata: object = {}): object {
  return { name, type, nullable: true, metadata: fieldMetadata };
}

export function added(path: string, more: Readonly<Record<string, unknown>> = {}): object {
  const add = { path, partitionValues: {}, size: 1, modificationTime: 0, dataChange: true, ...more };
  return { add };
}

/** A store with one table; each commit is its lines, as text or as actions. */
export function storeOf(commits: readonly (readonly (object | string)[])[]): MemoryStore {
  const store = new MemoryStore();
  commits.forEach((actions, version) => {
    putLog(store, commitName(version), actions);
  });
  return store;
}

export function putLog(store: MemoryStore, name: string, actions: readonly (object | string)[]): void {
  const lines = actions.map((action) => (typeof action === 'string' ? action : JSON.stringify(action)));
  store.put(`${root}/_delta_log/${name}`, Buffer.from(lines.join('\n')));
}

/** A table of testdata/delta under `root`. */
export function goldenStore(name: string): MemoryStore {
  const folder = fileURLToPath(new URL(`../../../testdata/delta/${name}`, import.meta.url));
  const store = new MemoryStore();
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    store.put(`${root}${path.slice(folder.length)}`, readFileSync(path));
  }
  return store;
}

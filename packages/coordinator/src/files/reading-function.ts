import { QueryError } from '@svc/base';
import { displayLocation } from '@svc/lake';

/** How a file is read that a string names in place of a table. */
export type ReadingFunction = 'read_parquet' | 'read_csv' | 'read_json' | 'delta_scan';

const byExtension: Readonly<Record<string, ReadingFunction>> = {
  parquet: 'read_parquet',
  parq: 'read_parquet',
  csv: 'read_csv',
  tsv: 'read_csv',
  json: 'read_json',
  jsonl: 'read_json',
  ndjson: 'read_json',
};

/** Compressions that the engine undoes when it reads text. */
const compressed = /\.(?:gz|zst)$/;

/**
 * By the extension, as the engine does it; a path without any is a folder: a Delta table. Throws INVALID_ARGUMENT
 * naming what is read.
 */
export function readingFunctionOf(path: string): ReadingFunction {
  // A question mark on a disk is part of a name, or a pattern.
  const name = (/^https?:/i.test(path) ? path.replace(/[?#].*$/s, '') : path).toLowerCase();
  const text = name.replace(compressed, '');
  const extension = /\.([a-z0-9]+)$/.exec(text)?.[1];
  const isFolder = extension === undefined || name.endsWith('/');
  if (isFolder && !/[*?[]/.test(name)) return 'delta_scan';
  const found =
    extension !== undefined && Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
  if (found === undefined || (found === 'read_parquet' && text !== name))
    throw new QueryError(
      'INVALID_ARGUMENT',
      `'${displayLocation(path)}' cannot be told by its name: files are .parquet, .csv, .tsv, .json, .jsonl or .ndjson, text also .gz or .zst; say read_csv('…') and the like for others.`,
    );
  return found;
}

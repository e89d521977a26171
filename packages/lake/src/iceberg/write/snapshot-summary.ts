/** Snapshot summaries (specification, "Snapshots", Appendix F "Optional Snapshot Summary Fields"). */
import type { AddedDataFile } from '../manifests/write-manifest.js';
import type { Snapshot } from '../spec/snapshot.js';
import type { PrimitiveValue } from '../spec/values.js';

const totals = [
  'data-files',
  'records',
  'files-size',
  'delete-files',
  'position-deletes',
  'equality-deletes',
];

/**
 * What an append did, and what the table has after it. A total that the snapshot before does not say stays unsaid.
 * `details` are further entries, like `engine-name`.
 */
export function appendSummary(
  parent: Snapshot | undefined,
  files: readonly AddedDataFile[],
  details: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const added = new Map<string, bigint>([
    ['data-files', BigInt(files.length)],
    ['records', sum(files, (file) => file.metrics.recordCount)],
    ['files-size', sum(files, (file) => file.sizeBytes)],
  ]);
  const summary = new Map<string, string>([['operation', 'append']]);
  for (const [what, count] of added) summary.set(`added-${what}`, String(count));
  summary.set('changed-partition-count', String(countPartitions(files)));
  for (const what of totals) {
    const before = parent === undefined ? 0n : parseCount(parent.summary.get(`total-${what}`));
    if (before !== undefined) summary.set(`total-${what}`, String(before + (added.get(what) ?? 0n)));
  }
  for (const [key, value] of Object.entries(details)) if (!summary.has(key)) summary.set(key, value);
  return summary;
}

function countPartitions(files: readonly AddedDataFile[]): number {
  return new Set(files.map((file) => file.partition.map(keyOf).join('\0'))).size;
}

function keyOf(value: PrimitiveValue | null): string {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  return typeof value === 'string' ? `text ${JSON.stringify(value)}` : `${typeof value} ${String(value)}`;
}

function sum(files: readonly AddedDataFile[], count: (file: AddedDataFile) => number): bigint {
  return BigInt(files.reduce((total, file) => total + count(file), 0));
}

function parseCount(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

/** The files of a Delta log by their names (protocol, "Delta Log Entries", "Checkpoint Naming Scheme"). */

export type LogFile =
  | { readonly kind: 'commit'; readonly version: number; readonly name: string }
  | { readonly kind: 'classic' | 'uuid'; readonly version: number; readonly name: string }
  | {
      readonly kind: 'part';
      readonly version: number;
      readonly name: string;
      readonly part: number;
      readonly partCount: number;
    };

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const pattern = new RegExp(
  `^(\\d{20})\\.(?:(json)|(checkpoint\\.parquet)|checkpoint\\.(\\d{10})\\.(\\d{10})\\.parquet|checkpoint\\.(${uuid})\\.(?:json|parquet))$`,
  'i',
);

/** `undefined` for files that are not needed to replay the log: checksums, compactions, what others left there. */
export function parseLogName(name: string): LogFile | undefined {
  const [, digits, json, classic, part, partCount] = pattern.exec(name) ?? [];
  const version = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(version)) return undefined;
  if (json !== undefined) return { kind: 'commit', version, name };
  if (classic !== undefined) return { kind: 'classic', version, name };
  if (part === undefined) return { kind: 'uuid', version, name };
  return { kind: 'part', version, name, part: Number(part), partCount: Number(partCount) };
}

export function commitName(version: number): string {
  return `${padded(version, 20)}.json`;
}

export function classicName(version: number): string {
  return `${padded(version, 20)}.checkpoint.parquet`;
}

export function partName(version: number, part: number, partCount: number): string {
  return `${padded(version, 20)}.checkpoint.${padded(part, 10)}.${padded(partCount, 10)}.parquet`;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

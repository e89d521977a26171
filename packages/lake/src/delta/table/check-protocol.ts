import { QueryError } from '@svc/base';
import type { Protocol } from '../log/actions.js';

/** Reader features of the protocol that are honoured here. Columns of type variant are refused where they are read. */
const honouredFeatures: ReadonlySet<string> = new Set([
  'columnMapping',
  'deletionVectors',
  'timestampNtz',
  'typeWidening',
  'typeWidening-preview',
  'v2Checkpoint',
  'vacuumProtocolCheck',
  'variantType',
  'variantType-preview',
  'variantShredding',
  'variantShredding-preview',
]);

const newestReaderVersion = 3;

/** Throws UNSUPPORTED_TABLE_FEATURE naming the version or features that the table asks of its readers. */
export function checkProtocol(
  { minReaderVersion, readerFeatures, source }: Protocol,
  location: string,
): void {
  if (minReaderVersion > newestReaderVersion || minReaderVersion < 1)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The Delta table ${location} asks for readers of version ${minReaderVersion} (${source}); versions 1 to ${newestReaderVersion} are read.`,
    );
  if (minReaderVersion < newestReaderVersion) return;
  if (readerFeatures === undefined)
    throw new QueryError('DATA_CORRUPT', `${source}: protocol has reader version 3, but no readerFeatures.`);
  const unknown = readerFeatures.filter((feature) => !honouredFeatures.has(feature));
  if (unknown.length === 0) return;
  throw new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The Delta table ${location} has the reader ${unknown.length === 1 ? 'feature' : 'features'} ${unknown.join(', ')} (${source}), which this version does not read.`,
  );
}

export type ColumnMappingMode = 'none' | 'id' | 'name';

/** Throws DATA_CORRUPT for another mode. */
export function columnMappingMode(
  { minReaderVersion, readerFeatures }: Protocol,
  configuration: ReadonlyMap<string, string>,
  source: string,
): ColumnMappingMode {
  const isSupported =
    minReaderVersion === 2 || (minReaderVersion >= 3 && readerFeatures?.includes('columnMapping') === true);
  const mode = isSupported ? (configuration.get('delta.columnMapping.mode') ?? 'none') : 'none';
  if (mode === 'none' || mode === 'id' || mode === 'name') return mode;
  throw new QueryError(
    'DATA_CORRUPT',
    `${source}: delta.columnMapping.mode is ${JSON.stringify(mode)}; it can be none, id or name.`,
  );
}

/** Table properties that steer writing (Iceberg documentation, "Configuration"), with Iceberg's defaults. */
import { QueryError } from '@svc/base';
import { clip } from '../spec/lossless-json.js';
import { checkMetricsModes } from './metrics-modes.js';

export interface WriteProperties {
  readonly maxRetries: number;
  readonly minRetryWaitMs: number;
  readonly maxRetryWaitMs: number;
  readonly totalRetryTimeoutMs: number;
  readonly manifestTargetBytes: number;
  readonly mergesManifests: boolean;
  readonly minManifestsToMerge: number;
  /** Metadata files that the metadata log remembers. */
  readonly maxPreviousMetadata: number;
  readonly deletesPreviousMetadata: boolean;
}

type Properties = ReadonlyMap<string, string>;

interface IntegerProperty {
  readonly key: string;
  readonly byDefault: number;
  readonly least: number;
}

const integers = {
  maxRetries: { key: 'commit.retry.num-retries', byDefault: 4, least: 0 },
  minRetryWaitMs: { key: 'commit.retry.min-wait-ms', byDefault: 100, least: 0 },
  maxRetryWaitMs: { key: 'commit.retry.max-wait-ms', byDefault: 60_000, least: 0 },
  totalRetryTimeoutMs: { key: 'commit.retry.total-timeout-ms', byDefault: 1_800_000, least: 0 },
  manifestTargetBytes: { key: 'commit.manifest.target-size-bytes', byDefault: 8_388_608, least: 1 },
  minManifestsToMerge: { key: 'commit.manifest.min-count-to-merge', byDefault: 100, least: 1 },
  maxPreviousMetadata: { key: 'write.metadata.previous-versions-max', byDefault: 100, least: 1 },
} as const satisfies Record<string, IntegerProperty>;

const booleans = {
  mergesManifests: { key: 'commit.manifest-merge.enabled', byDefault: true },
  deletesPreviousMetadata: { key: 'write.metadata.delete-after-commit.enabled', byDefault: false },
} as const;

/** A value that is none counts as not set: a table that another writer made must stay writable. */
export function writeProperties(properties: Properties): WriteProperties {
  const integer = (name: keyof typeof integers): number => {
    const { key, byDefault } = integers[name];
    return parseInteger(properties.get(key), integers[name]) ?? byDefault;
  };
  const boolean = (name: keyof typeof booleans): boolean => {
    const value = properties.get(booleans[name].key)?.toLowerCase();
    return value === undefined ? booleans[name].byDefault : value === 'true';
  };
  return {
    maxRetries: integer('maxRetries'),
    minRetryWaitMs: integer('minRetryWaitMs'),
    maxRetryWaitMs: integer('maxRetryWaitMs'),
    totalRetryTimeoutMs: integer('totalRetryTimeoutMs'),
    manifestTargetBytes: integer('manifestTargetBytes'),
    mergesManifests: boolean('mergesManifests'),
    minManifestsToMerge: integer('minManifestsToMerge'),
    maxPreviousMetadata: integer('maxPreviousMetadata'),
    deletesPreviousMetadata: boolean('deletesPreviousMetadata'),
  };
}

/** For a table that is made here: throws INVALID_ARGUMENT for a value that `writeProperties` would not take. */
export function checkTableProperties(properties: Properties): void {
  for (const property of Object.values(integers)) {
    const text = properties.get(property.key);
    if (text !== undefined && parseInteger(text, property) === undefined)
      throw invalid(property.key, text, `a whole number from ${property.least}`);
  }
  for (const { key } of Object.values(booleans)) {
    const text = properties.get(key);
    if (text !== undefined && !/^(true|false)$/i.test(text)) throw invalid(key, text, 'true or false');
  }
  checkMetricsModes(properties);
}

function parseInteger(text: string | undefined, { least }: IntegerProperty): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  return Number(text) >= least ? Number(text) : undefined;
}

function invalid(key: string, text: string, expected: string): QueryError {
  return new QueryError(
    'INVALID_ARGUMENT',
    `The table property ${key} is ${JSON.stringify(clip(text, 60))}; it must be ${expected}.`,
  );
}

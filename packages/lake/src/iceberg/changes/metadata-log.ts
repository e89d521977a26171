import { type JsonObject, jsonNumber } from '../spec/lossless-json.js';
import type { MetadataLogEntry } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { writeProperties } from '../write/table-properties.js';

export interface LoggedMetadata {
  readonly metadata: TableMetadata;
  /** Metadata files that the log does not name any more. */
  readonly forgotten: readonly string[];
}

/** The changed metadata with the file it was made from in its log, which is cut to `write.metadata.previous-versions-max`. */
export function logPreviousMetadata(
  changed: TableMetadata,
  previous: TableMetadata,
  previousLocation: string,
): LoggedMetadata {
  const { maxPreviousMetadata } = writeProperties(changed.properties);
  const entry = { timestampMs: previous.lastUpdatedMs, metadataFile: previousLocation };
  const all = [...changed.metadataLog, entry];
  const metadataLog = all.slice(-maxPreviousMetadata);
  return {
    metadata: {
      ...changed,
      metadataLog,
      json: { ...changed.json, 'metadata-log': metadataLog.map(printEntry) },
    },
    forgotten: all.slice(0, -maxPreviousMetadata).map((each) => each.metadataFile),
  };
}

function printEntry({ timestampMs, metadataFile }: MetadataLogEntry): JsonObject {
  return { 'timestamp-ms': jsonNumber(timestampMs), 'metadata-file': metadataFile };
}

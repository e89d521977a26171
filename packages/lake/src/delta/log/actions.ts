/** The actions of a log that a reader needs (protocol, "Actions"). All others, known or not, are left aside. */
import type { JsonFields } from '../../iceberg/spec/json-fields.js';

export interface Protocol {
  readonly minReaderVersion: number;
  /** `undefined` below reader version 3. */
  readonly readerFeatures: readonly string[] | undefined;
  /** The log file that says so, for messages. */
  readonly source: string;
}

export interface Metadata {
  readonly id: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly provider: string;
  readonly schemaText: string;
  readonly partitionColumns: readonly string[];
  readonly configuration: ReadonlyMap<string, string>;
  readonly source: string;
}

export interface DeletionVector {
  readonly storageType: string;
  readonly pathOrInline: string;
  readonly offset: number | undefined;
  readonly sizeBytes: number;
  readonly cardinality: number;
}

/** A data file of the table. */
export interface AddedFile {
  /** As it stands in the log: percent-encoded, relative or absolute. */
  readonly path: string;
  /** By physical name; null where the log has null or an empty text. */
  readonly partitionValues: ReadonlyMap<string, string | null>;
  readonly sizeBytes: number;
  /** JSON, as the writer left it; `undefined` when there is none or no room for it. */
  readonly statistics: string | undefined;
  readonly deletionVector: DeletionVector | undefined;
  readonly source: string;
}

export interface RemovedFile {
  readonly path: string;
  readonly deletionVector: DeletionVector | undefined;
}

export type Action =
  | { readonly kind: 'protocol'; readonly protocol: Protocol }
  | { readonly kind: 'metadata'; readonly metadata: Metadata }
  | { readonly kind: 'add'; readonly file: AddedFile }
  | { readonly kind: 'remove'; readonly file: RemovedFile }
  /** In checkpoints: the name of a file in `_sidecars` with further actions. */
  | { readonly kind: 'sidecar'; readonly name: string };

/** The action of one line of a log, or row of a checkpoint; `undefined` when it tells a reader nothing. */
export function parseAction(json: JsonFields, source: string): Action | undefined {
  const add = json.optionalObject('add');
  if (add !== undefined) return { kind: 'add', file: parseAdd(add, source) };
  const remove = json.optionalObject('remove');
  if (remove !== undefined)
    return {
      kind: 'remove',
      file: { path: remove.string('path'), deletionVector: parseDeletionVector(remove) },
    };
  const metadata = json.optionalObject('metaData');
  if (metadata !== undefined) return { kind: 'metadata', metadata: parseMetadata(metadata, source) };
  const protocol = json.optionalObject('protocol');
  if (protocol !== undefined) return { kind: 'protocol', protocol: parseProtocol(protocol, source) };
  const sidecar = json.optionalObject('sidecar');
  if (sidecar !== undefined) return { kind: 'sidecar', name: sidecarName(sidecar) };
  return undefined;
}

function parseAdd(json: JsonFields, source: string): AddedFile {
  const partitionValues = new Map<string, string | null>();
  for (const [name, value] of Object.entries(json.optionalObject('partitionValues')?.json ?? {})) {
    if (value !== null && typeof value !== 'string')
      throw json.corrupt(`has the partition value ${name}, which is not text`);
    partitionValues.set(name, value === '' ? null : value);
  }
  return {
    path: json.string('path'),
    partitionValues,
    sizeBytes: json.integer('size'),
    statistics: json.optionalString('stats'),
    deletionVector: parseDeletionVector(json),
    source,
  };
}

function parseDeletionVector(owner: JsonFields): DeletionVector | undefined {
  const json = owner.optionalObject('deletionVector');
  return (
    json && {
      storageType: json.string('storageType'),
      pathOrInline: json.string('pathOrInlineDv'),
      offset: json.optionalInteger('offset'),
      sizeBytes: json.integer('sizeInBytes'),
      cardinality: json.integer('cardinality'),
    }
  );
}

/** Tells the same file with other deleted rows apart (protocol, "Derived Fields"). */
export function deletionVectorId(vector: DeletionVector | undefined): string {
  if (vector === undefined) return '';
  const { storageType, pathOrInline, offset } = vector;
  return `${storageType}${pathOrInline}${offset === undefined ? '' : `@${offset}`}`;
}

function parseMetadata(json: JsonFields, source: string): Metadata {
  return {
    id: json.string('id'),
    name: json.optionalString('name'),
    description: json.optionalString('description'),
    provider: json.optionalObject('format')?.optionalString('provider') ?? 'parquet',
    schemaText: json.string('schemaString'),
    partitionColumns: json.strings('partitionColumns') ?? [],
    configuration: json.stringMap('configuration'),
    source,
  };
}

function parseProtocol(json: JsonFields, source: string): Protocol {
  return {
    minReaderVersion: json.integer('minReaderVersion'),
    readerFeatures: json.strings('readerFeatures'),
    source,
  };
}

/** Sidecars always lie in the table's own folder for them, so only the last part of the path counts. */
function sidecarName(json: JsonFields): string {
  const path = json.string('path');
  const encoded = path.slice(path.lastIndexOf('/') + 1);
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    throw json.corrupt(`names the file ${encoded}, which is not percent-encoded text`);
  }
  if (name === '' || name === '..' || /[/\0]/.test(name)) throw json.corrupt(`names the file ${encoded}`);
  return name;
}

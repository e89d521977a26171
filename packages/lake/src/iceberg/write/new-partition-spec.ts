/** Partition specs from pairs of a column and a transform (specification, "Partitioning"). */
import { QueryError } from '@svc/base';
import { suggestNames } from '../../catalogs/near-names.js';
import { clip } from '../spec/lossless-json.js';
import type { PartitionField, PartitionSpec } from '../spec/partition-spec.js';
import { isPrimitive, printType } from '../spec/type-text.js';
import type { IcebergType, NestedField } from '../spec/types.js';
import { parseTransform, type Transform, transformResultType } from '../transforms/transform.js';

export interface PartitionDefinition {
  /** A column, or a field inside structs: `['address', 'city']`. */
  readonly column: readonly string[];
  /** `identity`, `bucket[16]`, `truncate[4]`, `year`, `month`, `day`, `hour`, `void`. */
  readonly transform: string;
  /** Of the partition field; by default made of column and transform, like `ts_month`. */
  readonly name?: string;
}

/** The id before that of a table's first partition field. */
export const noPartitionFieldId = 999;

const nameEndings: Readonly<Record<Exclude<Transform['kind'], 'unknown'>, string>> = {
  identity: '',
  void: '_null',
  bucket: '_bucket',
  truncate: '_trunc',
  year: '_year',
  month: '_month',
  day: '_day',
  hour: '_hour',
};

/**
 * Throws BINDING_ERROR for a column that does not exist, INVALID_ARGUMENT for a transform that does not exist or does
 * not take the column's type, and for names or pairs that are there twice.
 */
export function newPartitionSpec(
  fields: readonly NestedField[],
  definitions: readonly PartitionDefinition[],
  specId = 0,
  lastPartitionId = noPartitionFieldId,
): PartitionSpec {
  const made: PartitionField[] = [];
  for (const [index, definition] of definitions.entries()) {
    const { transform } = definition;
    const source = findColumn(fields, definition.column);
    const path = quoted(source.path);
    checkTransform(transform, source);
    if (made.some((each) => each.sourceIds[0] === source.id && each.transform === transform))
      throw invalid(`The table is partitioned twice by ${transform} of column ${path}.`);
    const takenNames = [
      ...fields.filter((field) => field.id !== source.id || transform !== 'identity'),
      ...made,
    ];
    const name = definition.name ?? freeName(source.path + endingOf(transform), takenNames);
    if (name === '') throw invalid(`The partition field of column ${path} has no name.`);
    if (isTaken(name, takenNames))
      throw invalid(`The partition field ${quoted(name)} has the name of another column or partition field.`);
    made.push({ sourceIds: [source.id], fieldId: lastPartitionId + 1 + index, name, transform });
  }
  return { specId, fields: made };
}

interface Source {
  readonly id: number;
  /** With dots, as the table spells it. */
  readonly path: string;
  readonly type: IcebergType;
}

function findColumn(fields: readonly NestedField[], column: readonly string[]): Source {
  let level = fields;
  let found: NestedField | undefined;
  const path: string[] = [];
  for (const name of column) {
    const lowerCase = name.toLowerCase();
    found =
      level.find((field) => field.name === name) ??
      level.find((field) => field.name.toLowerCase() === lowerCase);
    if (found === undefined) {
      const wanted = quoted([...path, name].join('.'));
      const names = level.map((field) => field.name);
      throw new QueryError(
        'BINDING_ERROR',
        `The table cannot be partitioned by column ${wanted}: there is none${suggestNames(name, names)}`,
      );
    }
    path.push(found.name);
    level = found.type.kind === 'struct' ? found.type.fields : [];
  }
  if (found === undefined) throw invalid('A partition field needs a column.');
  return { id: found.id, path: path.join('.'), type: found.type };
}

function checkTransform(text: string, { path, type }: Source): void {
  const transform = parseTransform(text);
  if (transform.kind === 'unknown')
    throw invalid(
      `Column ${quoted(path)} cannot be partitioned by ${quoted(text)}: there are identity, bucket[n], truncate[width], year, month, day, hour and void.`,
    );
  if (isPrimitive(type) && transformResultType(transform, type) !== undefined) return;
  throw invalid(
    `Column ${quoted(path)} of type ${printType(type)} cannot be partitioned by ${text}, which takes ${sourceTypes(transform)}.`,
  );
}

function sourceTypes(transform: Exclude<Transform, { kind: 'unknown' }>): string {
  switch (transform.kind) {
    case 'identity':
    case 'void':
      return 'any type that is not nested';
    case 'bucket':
      return 'int, long, decimal, date, time, timestamps, string, uuid, fixed and binary';
    case 'truncate':
      return 'int, long, decimal, string and binary';
    case 'year':
    case 'month':
    case 'day':
      return 'date and timestamps';
    case 'hour':
      return 'timestamps';
  }
}

function endingOf(text: string): string {
  const { kind } = parseTransform(text);
  return kind === 'unknown' ? '' : nameEndings[kind];
}

function freeName(wanted: string, taken: readonly { readonly name: string }[]): string {
  let name = wanted;
  for (let number = 2; isTaken(name, taken); number++) name = `${wanted}_${number}`;
  return name;
}

function isTaken(name: string, taken: readonly { readonly name: string }[]): boolean {
  const lowerCase = name.toLowerCase();
  return taken.some((each) => each.name.toLowerCase() === lowerCase);
}

function quoted(name: string): string {
  return JSON.stringify(clip(name, 200));
}

function invalid(message: string): QueryError {
  return new QueryError('INVALID_ARGUMENT', message);
}

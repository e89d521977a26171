/** What the parameters of an INSERT are: a driver's setters want types, and a lone `?` has none but its column's. */
import type { LoadedTable } from '@svc/lake';
import { type Insert, valuesParameters } from '@svc/sql';
import { Field, Schema, Table } from 'apache-arrow';
import { ipcParts } from '../results/ipc-parts.js';
import { tableArrowSchema } from '../results/table-arrow-schema.js';
import { type ChangeOptions, writablePlace } from './change-catalog.js';
import { arrowSchemaOf } from './landed-rows.js';
import { currentFields, isNamed } from './write-rows.js';

/**
 * `parameterSchema`, an encapsulated Arrow schema, in which parameters that stand alone in a row of VALUES have the types
 * of the columns that take them. Throws TABLE_NOT_FOUND, and what `permit` throws.
 */
export async function insertParameterSchema(
  statement: Insert,
  parameterSchema: Uint8Array,
  change: ChangeOptions,
  permit: (catalog: string, table: LoadedTable) => void,
): Promise<Uint8Array> {
  const positions = valuesParameters(statement.query);
  if (positions.size === 0 || statement.byName) return parameterSchema;
  const { catalog, identifier, writable } = writablePlace(statement.name, change);
  const table = await writable.loadTable(identifier, { signal: change.signal });
  permit(catalog, table);
  const fields = currentFields(table);
  const targets = statement.columns?.map((name) => fields.find((field) => isNamed(field, name))) ?? fields;
  const taking = (parameter: Field): Field => {
    const target = targets[positions.get(parameter.name) ?? -1];
    if (target === undefined) return parameter;
    const [column] = arrowSchemaOf(tableArrowSchema([target], 'UTC')).fields;
    return column === undefined ? parameter : new Field(parameter.name, column.type, true, column.metadata);
  };
  return ipcParts(new Table(new Schema(arrowSchemaOf(parameterSchema).fields.map(taking)))).schema;
}

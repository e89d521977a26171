import { Binary, Int32, type Schema, Uint8, Utf8 } from 'apache-arrow';
import { encodeSqlInfo, sqlInfoSchema } from '../arrow/sql-info-table.js';
import { encodeRows, encodeSchema, schemaOf } from '../arrow/table-message.js';
import type { CallContext, FlightSqlBackend, ResultMessage, ResultStream, TableRow } from '../backend.js';
import type { IpcMessage } from '../framing/flight-data.js';
import type { MetadataCommand } from '../messages/command.js';
import { sqlInfoValues } from '../sql/sql-info.js';
import { typeInfoRows, typeInfoSchema } from '../sql/type-info.js';

/** Bounds of one batch of tables; the schemas of wide tables are large. */
const MAX_BATCH_ROWS = 1024;
const MAX_BATCH_BYTES = 1024 * 1024;

const catalogsSchema = schemaOf([{ name: 'catalog_name', type: new Utf8(), nullable: false }]);
const schemasSchema = schemaOf([
  { name: 'catalog_name', type: new Utf8(), nullable: true },
  { name: 'db_schema_name', type: new Utf8(), nullable: false },
]);
const tableColumns = [
  { name: 'catalog_name', type: new Utf8(), nullable: true },
  { name: 'db_schema_name', type: new Utf8(), nullable: true },
  { name: 'table_name', type: new Utf8(), nullable: false },
  { name: 'table_type', type: new Utf8(), nullable: false },
];
const tablesSchema = schemaOf(tableColumns);
const tablesWithSchemaSchema = schemaOf([
  ...tableColumns,
  { name: 'table_schema', type: new Binary(), nullable: false },
]);
const tableTypesSchema = schemaOf([{ name: 'table_type', type: new Utf8(), nullable: false }]);

const keyColumns = (prefix: string) => [
  { name: `${prefix}catalog_name`, type: new Utf8(), nullable: true },
  { name: `${prefix}db_schema_name`, type: new Utf8(), nullable: true },
  { name: `${prefix}table_name`, type: new Utf8(), nullable: false },
  { name: `${prefix}column_name`, type: new Utf8(), nullable: false },
];
const primaryKeysSchema = schemaOf([
  ...keyColumns(''),
  { name: 'key_name', type: new Utf8(), nullable: true },
  { name: 'key_sequence', type: new Int32(), nullable: false },
]);
const foreignKeysSchema = schemaOf([
  ...keyColumns('pk_'),
  ...keyColumns('fk_'),
  { name: 'key_sequence', type: new Int32(), nullable: false },
  { name: 'fk_key_name', type: new Utf8(), nullable: true },
  { name: 'pk_key_name', type: new Utf8(), nullable: true },
  { name: 'update_rule', type: new Uint8(), nullable: false },
  { name: 'delete_rule', type: new Uint8(), nullable: false },
]);

/** The Arrow schema of a metadata answer, as the Flight SQL format prescribes it. */
export function metadataSchema(command: MetadataCommand): Buffer {
  return encodeSchema(arrowSchema(command));
}

function arrowSchema(command: MetadataCommand): Schema {
  switch (command.kind) {
    case 'sql-info':
      return sqlInfoSchema;
    case 'catalogs':
      return catalogsSchema;
    case 'schemas':
      return schemasSchema;
    case 'tables':
      return command.includeSchema ? tablesWithSchemaSchema : tablesSchema;
    case 'table-types':
      return tableTypesSchema;
    case 'type-info':
      return typeInfoSchema;
    case 'primary-keys':
      return primaryKeysSchema;
    case 'foreign-keys':
      return foreignKeysSchema;
  }
}

/** The answer itself, produced while it is read. */
export function metadataResult<S>(
  command: MetadataCommand,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): ResultStream {
  return {
    schema: metadataSchema(command),
    messages: ownedMessages(metadataMessages(command, backend, session, context)),
  };
}

async function* metadataMessages<S>(
  command: MetadataCommand,
  backend: FlightSqlBackend<S>,
  session: S,
  context: CallContext,
): AsyncGenerator<IpcMessage> {
  switch (command.kind) {
    case 'sql-info':
      yield* encodeSqlInfo(sqlInfoValues(backend.sqlInfo()), command.ids);
      return;
    case 'catalogs': {
      const catalogs = [...(await backend.catalogs(session, context))].sort(compareText);
      yield* encodeRows(
        catalogsSchema,
        catalogs.map((catalog) => [catalog]),
      );
      return;
    }
    case 'schemas': {
      const found = await backend.schemas(session, command.catalog, command.schemaPattern, context);
      const rows = found.map(({ catalog, schema }) => [catalog, schema] as const);
      yield* encodeRows(
        schemasSchema,
        rows.sort((a, b) => compareText(a[0], b[0]) || compareText(a[1], b[1])),
      );
      return;
    }
    case 'tables':
      yield* tableMessages(
        arrowSchema(command),
        backend.tables(session, command, context),
        command.includeSchema,
      );
      return;
    case 'table-types':
      yield* encodeRows(tableTypesSchema, [['TABLE'], ['VIEW']]);
      return;
    case 'type-info':
      yield* encodeRows(typeInfoSchema, typeInfoRows(command.dataType));
      return;
    case 'primary-keys':
    case 'foreign-keys':
      yield* encodeRows(arrowSchema(command), []);
  }
}

async function* tableMessages(
  schema: Schema,
  tables: AsyncIterable<TableRow>,
  includeSchema: boolean,
): AsyncGenerator<IpcMessage> {
  let rows: unknown[][] = [];
  let bytes = 0;
  for await (const { catalog, schema: databaseSchema, table, type, arrowSchema: tableSchema } of tables) {
    const row: unknown[] = [catalog, databaseSchema, table, type];
    if (includeSchema) {
      if (tableSchema === undefined) throw new Error(`The backend gave no schema for table ${table}.`);
      row.push(tableSchema);
      bytes += tableSchema.length;
    }
    rows.push(row);
    if (rows.length >= MAX_BATCH_ROWS || bytes >= MAX_BATCH_BYTES) {
      yield* encodeRows(schema, rows);
      rows = [];
      bytes = 0;
    }
  }
  if (rows.length > 0) yield* encodeRows(schema, rows);
}

async function* ownedMessages(messages: AsyncIterable<IpcMessage>): AsyncGenerator<ResultMessage> {
  for await (const message of messages) yield { ...message, release: () => undefined };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

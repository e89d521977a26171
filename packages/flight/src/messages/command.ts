/**
 * Flight SQL commands and tickets as a union of what this service knows. Everything else is refused by its name,
 * so that a client sees what is missing instead of a protobuf error.
 */
import { QueryError } from '@svc/base';
import type { IngestTarget } from '../backend.js';
import {
  CommandGetCatalogsSchema,
  CommandGetCrossReferenceSchema,
  CommandGetDbSchemasSchema,
  CommandGetExportedKeysSchema,
  CommandGetImportedKeysSchema,
  CommandGetPrimaryKeysSchema,
  CommandGetSqlInfoSchema,
  CommandGetTablesSchema,
  CommandGetTableTypesSchema,
  CommandGetXdbcTypeInfoSchema,
  CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdateSchema,
  CommandStatementIngestSchema,
  CommandStatementQuerySchema,
  CommandStatementUpdateSchema,
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as ExistsOption,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExistOption,
  TicketStatementQuerySchema,
} from '../gen/FlightSql_pb.js';
import { decodeMessage, packAny, quoteTypeName, type UnpackedAny, unpackAny } from './any.js';

/** Commands answered from metadata; their ticket is the command itself. */
export type MetadataCommand =
  | { readonly kind: 'sql-info'; readonly ids: readonly number[] }
  | { readonly kind: 'catalogs' }
  | {
      readonly kind: 'schemas';
      readonly catalog: string | undefined;
      readonly schemaPattern: string | undefined;
    }
  | {
      readonly kind: 'tables';
      readonly catalog: string | undefined;
      readonly schemaPattern: string | undefined;
      readonly tablePattern: string | undefined;
      readonly tableTypes: readonly string[];
      readonly includeSchema: boolean;
    }
  | { readonly kind: 'table-types' }
  | { readonly kind: 'type-info'; readonly dataType: number | undefined }
  /** Iceberg tables have no keys: the answers are empty, which is what clients ask for. */
  | { readonly kind: 'primary-keys' }
  | { readonly kind: 'foreign-keys' };

export type FlightCommand =
  | { readonly kind: 'statement'; readonly sql: string }
  | { readonly kind: 'prepared'; readonly handle: Uint8Array }
  | MetadataCommand;

export type FlightTicket = { readonly kind: 'handle'; readonly handle: Uint8Array } | MetadataCommand;

/** Decodes `FlightDescriptor.cmd`. Throws INVALID_ARGUMENT, or NOT_SUPPORTED naming a command of a later version. */
export function decodeCommand(bytes: Uint8Array): FlightCommand {
  const any = unpackAny(bytes, 'The command of the descriptor');
  switch (any.typeName) {
    case CommandStatementQuerySchema.typeName: {
      const command = decodeMessage(CommandStatementQuerySchema, any.value, 'The command');
      refuseTransaction(command.transactionId);
      return { kind: 'statement', sql: command.query };
    }
    case CommandPreparedStatementQuerySchema.typeName: {
      const command = decodeMessage(CommandPreparedStatementQuerySchema, any.value, 'The command');
      return { kind: 'prepared', handle: command.preparedStatementHandle };
    }
    default: {
      const command = decodeMetadataCommand(any);
      if (command === undefined) throw unsupportedType(any, 'command');
      return command;
    }
  }
}

/** Decodes `Ticket.ticket`. Throws TICKET_INVALID for anything that GetFlightInfo of this service does not issue. */
export function decodeTicket(bytes: Uint8Array): FlightTicket {
  let ticket: FlightTicket | undefined;
  try {
    const any = unpackAny(bytes, 'The ticket');
    ticket =
      any.typeName === TicketStatementQuerySchema.typeName
        ? {
            kind: 'handle',
            handle: decodeMessage(TicketStatementQuerySchema, any.value, 'The ticket').statementHandle,
          }
        : decodeMetadataCommand(any);
  } catch (cause) {
    throw damagedTicket(cause);
  }
  if (ticket === undefined) throw damagedTicket(undefined);
  return ticket;
}

/** The ticket of a planned query. */
export function encodeTicket(handle: Uint8Array): Buffer {
  return packAny(TicketStatementQuerySchema, { statementHandle: handle });
}

export type PutCommand =
  | { readonly kind: 'bind'; readonly handle: Uint8Array }
  | { readonly kind: 'update'; readonly sql: string }
  | { readonly kind: 'update-prepared'; readonly handle: Uint8Array }
  | { readonly kind: 'ingest'; readonly target: IngestTarget };

/** The command in front of DoPut's stream. Throws NOT_SUPPORTED for those of a later version. */
export function decodePutCommand(bytes: Uint8Array): PutCommand {
  const any = unpackAny(bytes, 'The command of the DoPut descriptor');
  switch (any.typeName) {
    case CommandPreparedStatementQuerySchema.typeName: {
      const command = decodeMessage(CommandPreparedStatementQuerySchema, any.value, 'The command');
      return { kind: 'bind', handle: command.preparedStatementHandle };
    }
    case CommandPreparedStatementUpdateSchema.typeName: {
      const command = decodeMessage(CommandPreparedStatementUpdateSchema, any.value, 'The command');
      return { kind: 'update-prepared', handle: command.preparedStatementHandle };
    }
    case CommandStatementUpdateSchema.typeName: {
      const command = decodeMessage(CommandStatementUpdateSchema, any.value, 'The command');
      refuseTransaction(command.transactionId);
      return { kind: 'update', sql: command.query };
    }
    case CommandStatementIngestSchema.typeName:
      return { kind: 'ingest', target: decodeIngest(any) };
    default:
      throw unsupportedType(any, 'DoPut command');
  }
}

const notExistOptions: ReadonlyMap<NotExistOption | undefined, IngestTarget['ifNotExists']> = new Map([
  [NotExistOption.CREATE, 'create'],
  [NotExistOption.FAIL, 'fail'],
]);

const existsOptions: ReadonlyMap<ExistsOption | undefined, IngestTarget['ifExists']> = new Map([
  [ExistsOption.FAIL, 'fail'],
  [ExistsOption.APPEND, 'append'],
  [ExistsOption.REPLACE, 'replace'],
]);

function decodeIngest(any: UnpackedAny): IngestTarget {
  const command = decodeMessage(CommandStatementIngestSchema, any.value, 'The command');
  refuseTransaction(command.transactionId);
  const { table, schema, catalog, tableDefinitionOptions: definition } = command;
  if (table === '') throw new QueryError('INVALID_ARGUMENT', 'CommandStatementIngest names no table.');
  if (command.temporary)
    throw new QueryError(
      'NOT_SUPPORTED',
      `The table ${JSON.stringify(table)} cannot be temporary: tables outlive their session here.`,
    );
  const ifNotExists = notExistOptions.get(definition?.ifNotExist);
  const ifExists = existsOptions.get(definition?.ifExists);
  if (ifNotExists === undefined || ifExists === undefined)
    throw new QueryError(
      'INVALID_ARGUMENT',
      'CommandStatementIngest must say what is to happen if the table exists, and if it does not.',
    );
  const [option] = Object.keys(command.options);
  if (option !== undefined)
    throw new QueryError('NOT_SUPPORTED', `An ingest has no option ${JSON.stringify(option.slice(0, 200))}.`);
  return { table, schema: schema || undefined, catalog: catalog || undefined, ifNotExists, ifExists };
}

/** Transactions do not exist here; a client that names one would be misled by silence. */
export function refuseTransaction(transactionId: Uint8Array | undefined): void {
  if (transactionId !== undefined && transactionId.length > 0)
    throw new QueryError('NOT_SUPPORTED', 'Transactions are not supported: leave transaction_id unset.');
}

function decodeMetadataCommand(any: UnpackedAny): MetadataCommand | undefined {
  switch (any.typeName) {
    case CommandGetSqlInfoSchema.typeName:
      return { kind: 'sql-info', ids: decodeMessage(CommandGetSqlInfoSchema, any.value, 'The command').info };
    case CommandGetCatalogsSchema.typeName:
      return { kind: 'catalogs' };
    case CommandGetDbSchemasSchema.typeName: {
      const command = decodeMessage(CommandGetDbSchemasSchema, any.value, 'The command');
      return { kind: 'schemas', catalog: command.catalog, schemaPattern: command.dbSchemaFilterPattern };
    }
    case CommandGetTablesSchema.typeName: {
      const command = decodeMessage(CommandGetTablesSchema, any.value, 'The command');
      return {
        kind: 'tables',
        catalog: command.catalog,
        schemaPattern: command.dbSchemaFilterPattern,
        tablePattern: command.tableNameFilterPattern,
        tableTypes: command.tableTypes,
        includeSchema: command.includeSchema,
      };
    }
    case CommandGetTableTypesSchema.typeName:
      return { kind: 'table-types' };
    case CommandGetXdbcTypeInfoSchema.typeName: {
      const { dataType } = decodeMessage(CommandGetXdbcTypeInfoSchema, any.value, 'The command');
      return { kind: 'type-info', dataType };
    }
    case CommandGetPrimaryKeysSchema.typeName:
      return { kind: 'primary-keys' };
    case CommandGetExportedKeysSchema.typeName:
    case CommandGetImportedKeysSchema.typeName:
    case CommandGetCrossReferenceSchema.typeName:
      return { kind: 'foreign-keys' };
    default:
      return undefined;
  }
}

function unsupportedType(any: UnpackedAny, what: string): QueryError {
  const name = any.schema?.name;
  return name === undefined
    ? new QueryError('INVALID_ARGUMENT', `${quoteTypeName(any.typeName)} is not a Flight SQL ${what}.`)
    : new QueryError('NOT_SUPPORTED', `${name} is not supported by this version.`);
}

function damagedTicket(cause: unknown): QueryError {
  return new QueryError('TICKET_INVALID', 'The ticket is damaged or was not issued by this service.', {
    cause,
  });
}

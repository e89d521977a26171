/**
 * The part of duckdb.h that we call. Handles are addresses (see memory.ts); text arguments are NUL-terminated UTF-8,
 * so callers refuse text with NUL first. Calling an accessor on a statement whose prepare failed aborts the process.
 */
import koffi, { type LibraryHandle } from 'koffi';
import type { Address } from './memory.js';

/** Passes an address in and out in its only element; start with 0. */
export type OutAddress = [Address];

/** `duckdb_result` as the six words it consists of; passed by value. */
export interface ResultWords {
  columnCount: number;
  rowCount: number;
  rowsChanged: number;
  columns: number;
  errorMessage: number;
  internalData: number;
}

export interface DuckDbFunctions {
  libraryVersion(): string;
  openExtended(path: string, database: OutAddress, config: Address, error: OutAddress): number;
  close(database: OutAddress): void;
  connect(database: Address, connection: OutAddress): number;
  disconnect(connection: OutAddress): void;
  createConfig(config: OutAddress): number;
  setConfig(config: Address, name: string, value: string): number;
  destroyConfig(config: OutAddress): void;
  /** Frees what the engine allocated for the caller. */
  free(memory: Address): void;

  interrupt(connection: Address): void;
  /** Safe to call from another thread while the connection runs. */
  queryProgress(connection: Address): { percentage: number; rowsProcessed: number; rowsTotal: number };

  prepare(connection: Address, sql: string, statement: OutAddress): number;
  destroyPrepare(statement: OutAddress): void;
  prepareError(statement: Address): string | null;
  parameterCount(statement: Address): number;
  /** The caller frees the text. */
  parameterName(statement: Address, index: number): Address;
  parameterType(statement: Address, index: number): number;
  parameterLogicalType(statement: Address, index: number): Address;
  statementType(statement: Address): number;
  columnCount(statement: Address): number;
  /** The caller frees the text. */
  columnName(statement: Address, index: number): Address;
  columnLogicalType(statement: Address, index: number): Address;
  bindValue(statement: Address, index: number, value: Address): number;

  pendingStreaming(statement: Address, pending: OutAddress): number;
  destroyPending(pending: OutAddress): void;
  pendingError(pending: Address): string | null;
  executePending(pending: Address, result: Address): number;
  query(connection: Address, sql: string, result: Address): number;
  destroyResult(result: Address): void;
  resultError(result: Address): string | null;
  fetchChunk(result: ResultWords): Address;
  resultColumnCount(result: Address): number;
  resultColumnName(result: Address, index: number): Address;
  resultColumnLogicalType(result: Address, index: number): Address;

  destroyDataChunk(chunk: OutAddress): void;
  chunkSize(chunk: Address): number;
  chunkVector(chunk: Address, column: number): Address;
  vectorData(vector: Address): Address;
  vectorValidity(vector: Address): Address;

  connectionArrowOptions(connection: Address, options: OutAddress): void;
  destroyArrowOptions(options: OutAddress): void;
  toArrowSchema(
    options: Address,
    types: Uint8Array,
    names: Uint8Array,
    count: number,
    schema: Address,
  ): Address;
  chunkToArrow(options: Address, chunk: Address, array: Address): Address;
  schemaFromArrow(connection: Address, schema: Address, converted: OutAddress): Address;
  chunkFromArrow(connection: Address, array: Address, converted: Address, chunk: OutAddress): Address;
  destroyConvertedSchema(converted: OutAddress): void;

  errorDataMessage(error: Address): string | null;
  errorDataHasError(error: Address): boolean;
  destroyErrorData(error: OutAddress): void;

  appenderCreate(
    connection: Address,
    catalog: string | null,
    schema: string | null,
    table: string,
    appender: OutAddress,
  ): number;
  appenderErrorData(appender: Address): Address;
  appendDataChunk(appender: Address, chunk: Address): number;
  appenderClear(appender: Address): number;
  appenderClose(appender: Address): number;
  appenderDestroy(appender: OutAddress): number;

  profilingInfo(connection: Address): Address;
  /** 0 when the node has no such metric; the caller destroys the value. */
  profilingValue(info: Address, metric: string): Address;
  profilingChildCount(info: Address): number;
  profilingChild(info: Address, index: number): Address;

  createLogicalType(type: number): Address;
  createListType(element: Address): Address;
  createDecimalType(width: number, scale: number): Address;
  createStructType(types: Uint8Array, names: Uint8Array, count: number): Address;
  destroyLogicalType(type: OutAddress): void;
  typeId(type: Address): number;
  /** The caller frees the text. */
  typeAlias(type: Address): Address;
  decimalWidth(type: Address): number;
  decimalScale(type: Address): number;
  enumSize(type: Address): number;
  /** The caller frees the text. */
  enumValue(type: Address, index: number): Address;
  listChildType(type: Address): Address;
  arrayChildType(type: Address): Address;
  arraySize(type: Address): number;
  mapKeyType(type: Address): Address;
  mapValueType(type: Address): Address;
  structChildCount(type: Address): number;
  /** The caller frees the text. */
  structChildName(type: Address, index: number): Address;
  structChildType(type: Address, index: number): Address;
  unionMemberCount(type: Address): number;
  /** The caller frees the text. */
  unionMemberName(type: Address, index: number): Address;
  unionMemberType(type: Address, index: number): Address;

  createText(text: Uint8Array, byteCount: number): Address;
  createBlob(content: Uint8Array, byteCount: number): Address;
  createNull(): Address;
  createBool(value: boolean): Address;
  createInt8(value: number): Address;
  createInt16(value: number): Address;
  createInt32(value: number): Address;
  createInt64(value: bigint): Address;
  createUint8(value: number): Address;
  createUint16(value: number): Address;
  createUint32(value: number): Address;
  createUint64(value: bigint): Address;
  createFloat(value: number): Address;
  createDouble(value: number): Address;
  createDecimal(value: DecimalWords): Address;
  createInterval(value: IntervalWords): Address;
  /** Days since 1970. */
  createDate(days: number): Address;
  /** The structs of times and timestamps hold one 64-bit integer, which is passed as if it stood alone. */
  createTime(microseconds: bigint): Address;
  createTimeNs(nanoseconds: bigint): Address;
  createTimestampS(seconds: bigint): Address;
  createTimestampMs(milliseconds: bigint): Address;
  createTimestamp(microseconds: bigint): Address;
  createTimestampNs(nanoseconds: bigint): Address;
  createTimestampTz(microseconds: bigint): Address;
  createStruct(type: Address, values: Uint8Array): Address;
  createList(type: Address, values: Uint8Array, count: number): Address;
  /** The text of a VARCHAR value; the caller frees it. */
  valueText(value: Address): Address;
  destroyValue(value: OutAddress): void;
}

/** `duckdb_decimal`: the unscaled value is `upper * 2^64 + lower`. */
export interface DecimalWords {
  readonly width: number;
  readonly scale: number;
  readonly lower: bigint;
  readonly upper: bigint;
}

/** `duckdb_interval`. */
export interface IntervalWords {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

type StructFunction = 'queryProgress' | 'fetchChunk' | 'createDecimal' | 'createInterval';

type Signature = readonly [name: string, result: string, ...parameters: string[]];

const address = 'uint64_t';
const out = '_Inout_ uint64_t*';
const text = 'const char*';
const index = 'uint64_t';
/** A view that stays alive during the call, because it is an argument of it. */
const bytes = 'uint8_t*';

/** C name, result type and parameter types, by the name used here. Functions with structs by value are below. */
const signatures: Readonly<Record<Exclude<keyof DuckDbFunctions, StructFunction>, Signature>> = {
  libraryVersion: ['duckdb_library_version', text],
  openExtended: ['duckdb_open_ext', 'int', text, out, address, out],
  close: ['duckdb_close', 'void', out],
  connect: ['duckdb_connect', 'int', address, out],
  disconnect: ['duckdb_disconnect', 'void', out],
  createConfig: ['duckdb_create_config', 'int', out],
  setConfig: ['duckdb_set_config', 'int', address, text, text],
  destroyConfig: ['duckdb_destroy_config', 'void', out],
  free: ['duckdb_free', 'void', address],
  interrupt: ['duckdb_interrupt', 'void', address],
  prepare: ['duckdb_prepare', 'int', address, text, out],
  destroyPrepare: ['duckdb_destroy_prepare', 'void', out],
  prepareError: ['duckdb_prepare_error', text, address],
  parameterCount: ['duckdb_nparams', index, address],
  parameterName: ['duckdb_parameter_name', address, address, index],
  parameterType: ['duckdb_param_type', 'int', address, index],
  parameterLogicalType: ['duckdb_param_logical_type', address, address, index],
  statementType: ['duckdb_prepared_statement_type', 'int', address],
  columnCount: ['duckdb_prepared_statement_column_count', index, address],
  columnName: ['duckdb_prepared_statement_column_name', address, address, index],
  columnLogicalType: ['duckdb_prepared_statement_column_logical_type', address, address, index],
  bindValue: ['duckdb_bind_value', 'int', address, index, address],
  pendingStreaming: ['duckdb_pending_prepared_streaming', 'int', address, out],
  destroyPending: ['duckdb_destroy_pending', 'void', out],
  pendingError: ['duckdb_pending_error', text, address],
  executePending: ['duckdb_execute_pending', 'int', address, address],
  query: ['duckdb_query', 'int', address, text, address],
  destroyResult: ['duckdb_destroy_result', 'void', address],
  resultError: ['duckdb_result_error', text, address],
  resultColumnCount: ['duckdb_column_count', index, address],
  resultColumnName: ['duckdb_column_name', address, address, index],
  resultColumnLogicalType: ['duckdb_column_logical_type', address, address, index],
  destroyDataChunk: ['duckdb_destroy_data_chunk', 'void', out],
  chunkSize: ['duckdb_data_chunk_get_size', index, address],
  chunkVector: ['duckdb_data_chunk_get_vector', address, address, index],
  vectorData: ['duckdb_vector_get_data', address, address],
  vectorValidity: ['duckdb_vector_get_validity', address, address],
  connectionArrowOptions: ['duckdb_connection_get_arrow_options', 'void', address, out],
  destroyArrowOptions: ['duckdb_destroy_arrow_options', 'void', out],
  toArrowSchema: ['duckdb_to_arrow_schema', address, address, bytes, bytes, index, address],
  chunkToArrow: ['duckdb_data_chunk_to_arrow', address, address, address, address],
  schemaFromArrow: ['duckdb_schema_from_arrow', address, address, address, out],
  chunkFromArrow: ['duckdb_data_chunk_from_arrow', address, address, address, address, out],
  destroyConvertedSchema: ['duckdb_destroy_arrow_converted_schema', 'void', out],
  errorDataMessage: ['duckdb_error_data_message', text, address],
  errorDataHasError: ['duckdb_error_data_has_error', 'bool', address],
  destroyErrorData: ['duckdb_destroy_error_data', 'void', out],
  appenderCreate: ['duckdb_appender_create_ext', 'int', address, text, text, text, out],
  appenderErrorData: ['duckdb_appender_error_data', address, address],
  appendDataChunk: ['duckdb_append_data_chunk', 'int', address, address],
  appenderClear: ['duckdb_appender_clear', 'int', address],
  appenderClose: ['duckdb_appender_close', 'int', address],
  appenderDestroy: ['duckdb_appender_destroy', 'int', out],
  profilingInfo: ['duckdb_get_profiling_info', address, address],
  profilingValue: ['duckdb_profiling_info_get_value', address, address, text],
  profilingChildCount: ['duckdb_profiling_info_get_child_count', index, address],
  profilingChild: ['duckdb_profiling_info_get_child', address, address, index],
  createLogicalType: ['duckdb_create_logical_type', address, 'int'],
  createListType: ['duckdb_create_list_type', address, address],
  createDecimalType: ['duckdb_create_decimal_type', address, 'uint8_t', 'uint8_t'],
  createStructType: ['duckdb_create_struct_type', address, bytes, bytes, index],
  destroyLogicalType: ['duckdb_destroy_logical_type', 'void', out],
  typeId: ['duckdb_get_type_id', 'int', address],
  typeAlias: ['duckdb_logical_type_get_alias', address, address],
  decimalWidth: ['duckdb_decimal_width', 'uint8_t', address],
  decimalScale: ['duckdb_decimal_scale', 'uint8_t', address],
  enumSize: ['duckdb_enum_dictionary_size', 'uint32_t', address],
  enumValue: ['duckdb_enum_dictionary_value', address, address, index],
  listChildType: ['duckdb_list_type_child_type', address, address],
  arrayChildType: ['duckdb_array_type_child_type', address, address],
  arraySize: ['duckdb_array_type_array_size', index, address],
  mapKeyType: ['duckdb_map_type_key_type', address, address],
  mapValueType: ['duckdb_map_type_value_type', address, address],
  structChildCount: ['duckdb_struct_type_child_count', index, address],
  structChildName: ['duckdb_struct_type_child_name', address, address, index],
  structChildType: ['duckdb_struct_type_child_type', address, address, index],
  unionMemberCount: ['duckdb_union_type_member_count', index, address],
  unionMemberName: ['duckdb_union_type_member_name', address, address, index],
  unionMemberType: ['duckdb_union_type_member_type', address, address, index],
  createText: ['duckdb_create_varchar_length', address, bytes, index],
  createBlob: ['duckdb_create_blob', address, bytes, index],
  createNull: ['duckdb_create_null_value', address],
  createBool: ['duckdb_create_bool', address, 'bool'],
  createInt8: ['duckdb_create_int8', address, 'int8_t'],
  createInt16: ['duckdb_create_int16', address, 'int16_t'],
  createInt32: ['duckdb_create_int32', address, 'int32_t'],
  createInt64: ['duckdb_create_int64', address, 'int64_t'],
  createUint8: ['duckdb_create_uint8', address, 'uint8_t'],
  createUint16: ['duckdb_create_uint16', address, 'uint16_t'],
  createUint32: ['duckdb_create_uint32', address, 'uint32_t'],
  createUint64: ['duckdb_create_uint64', address, 'uint64_t'],
  createFloat: ['duckdb_create_float', address, 'float'],
  createDouble: ['duckdb_create_double', address, 'double'],
  createDate: ['duckdb_create_date', address, 'int32_t'],
  createTime: ['duckdb_create_time', address, 'int64_t'],
  createTimeNs: ['duckdb_create_time_ns', address, 'int64_t'],
  createTimestampS: ['duckdb_create_timestamp_s', address, 'int64_t'],
  createTimestampMs: ['duckdb_create_timestamp_ms', address, 'int64_t'],
  createTimestamp: ['duckdb_create_timestamp', address, 'int64_t'],
  createTimestampNs: ['duckdb_create_timestamp_ns', address, 'int64_t'],
  createTimestampTz: ['duckdb_create_timestamp_tz', address, 'int64_t'],
  createStruct: ['duckdb_create_struct_value', address, address, bytes],
  createList: ['duckdb_create_list_value', address, address, bytes, index],
  valueText: ['duckdb_get_varchar', address, address],
  destroyValue: ['duckdb_destroy_value', 'void', out],
};

/** Binds every function at once, so that a library without one of them fails at the start. */
export function declareFunctions(library: LibraryHandle): DuckDbFunctions {
  const word = 'uint64_t';
  const result = koffi.struct({
    columnCount: word,
    rowCount: word,
    rowsChanged: word,
    columns: word,
    errorMessage: word,
    internalData: word,
  });
  const progress = koffi.struct({ percentage: 'double', rowsProcessed: word, rowsTotal: word });
  const decimal = koffi.struct({ width: 'uint8_t', scale: 'uint8_t', lower: word, upper: 'int64_t' });
  const interval = koffi.struct({ months: 'int32_t', days: 'int32_t', micros: 'int64_t' });
  const functions: Record<string, unknown> = {
    queryProgress: library.func('duckdb_query_progress', progress, [address]),
    fetchChunk: library.func('duckdb_fetch_chunk', address, [result]),
    createDecimal: library.func('duckdb_create_decimal', address, [decimal]),
    createInterval: library.func('duckdb_create_interval', address, [interval]),
  };
  for (const [name, [symbol, returns, ...parameters]] of Object.entries(signatures))
    functions[name] = library.func(`${returns} ${symbol}(${parameters.join(', ')})`);
  return functions as unknown as DuckDbFunctions;
}

import type { JsonValue } from '../json/lossless.js';
import { type LogicalType, readLogicalType } from './logical-type.js';
import { readTableFilter } from './plan-filter.js';
import type { GetNode, PlanNode, ScanColumn, ScanField } from './plan-node.js';
import { PlanNotUnderstood, PlanReader } from './plan-reader.js';

/** Column indexes from here on are virtual: a row number, a file name, or no column at all (count(*)). */
const firstVirtualColumn = 1n << 63n;

export function readGet(node: PlanReader, child: PlanNode | undefined): GetNode {
  const functionName = node.text('name');
  const names = node.texts('names');
  const types = node.list('returned_types').map(readLogicalType);
  const bindData = node.value('function_data');
  node.ignore(
    'table_index',
    'arguments',
    'original_arguments',
    'catalog_name',
    'schema_name',
    'has_serialize',
  );
  node.ignore('parameters', 'named_parameters', 'input_table_types', 'input_table_names');
  node.ignore('projected_input', 'ordinality_idx', 'row_group_order_options');
  checkExtraInfo(node.value('extra_info'));
  const columns = node.list('column_indexes').map((entry) => readColumn(entry, names, types));
  const projection = node.indexes('projection_ids');
  return {
    kind: 'get',
    functionName,
    files: functionName === 'read_parquet' || functionName === 'parquet_scan' ? readFiles(bindData) : [],
    names,
    types,
    columns,
    projection: projection.length === 0 ? undefined : projection,
    filters: readFilters(node.value('table_filters'), names.length),
    child,
  };
}

/** Only the files of the engine's bind data are of interest; options of read_parquet are ours to begin with. */
function readFiles(bindData: JsonValue | undefined): readonly string[] {
  return new PlanReader(bindData, 'read_parquet').texts('files');
}

function checkExtraInfo(json: JsonValue | undefined): void {
  if (json === undefined) return;
  const info = new PlanReader(json, 'extra_info');
  info.ignore('total_files', 'filtered_files');
  if (info.value('file_filters') !== undefined && info.text('file_filters') !== '')
    throw new PlanNotUnderstood('a scan that dropped files');
  info.mustBeEmpty('sample_options');
  info.end();
}

function readFilters(json: JsonValue | undefined, columnCount: number): GetNode['filters'] {
  if (json === undefined) return [];
  const set = new PlanReader(json, 'table_filters');
  const filters = set.list('filters').map((entry) => {
    const pair = new PlanReader(entry, 'table filter entry');
    const column = pair.count('key');
    if (column >= columnCount) throw new PlanNotUnderstood('a filter on a virtual column');
    const read = { column, filter: readTableFilter(pair.value('value')) };
    pair.end();
    return read;
  });
  set.end();
  return filters;
}

function readColumn(json: JsonValue, names: readonly string[], types: readonly LogicalType[]): ScanColumn {
  const { index, children, isCast } = readColumnIndex(json);
  if (index >= firstVirtualColumn) return { index: undefined, isCast, children: [] };
  const position = Number(index);
  const type = types[position];
  if (type === undefined || names[position] === undefined)
    throw new PlanNotUnderstood('a column out of range');
  return { index: position, isCast, children: readFields(children, type) };
}

function readColumnIndex(json: JsonValue): {
  readonly index: bigint;
  readonly children: readonly JsonValue[];
  readonly isCast: boolean;
} {
  const node = new PlanReader(json, 'column index');
  const type = readLogicalType(node.value('type'));
  const isCast = type.kind !== 'plain' || type.id !== 'INVALID';
  const read = { index: node.integer('index'), children: node.list('child_indexes'), isCast };
  node.oneOf('index_type', { FULL_READ: true });
  if (!node.flag('has_index') || node.text('field') !== '')
    throw new PlanNotUnderstood('a column by field name');
  node.end();
  return read;
}

/** Positions below anything but a struct mean the whole column. */
function readFields(children: readonly JsonValue[], type: LogicalType): readonly ScanField[] {
  if (type.kind !== 'struct') return [];
  return children.map((json) => {
    const { index, children: below, isCast } = readColumnIndex(json);
    const field = type.fields[Number(index)];
    if (field === undefined) throw new PlanNotUnderstood('a struct field out of range');
    return { name: field.name, isCast, children: readFields(below, field.type) };
  });
}

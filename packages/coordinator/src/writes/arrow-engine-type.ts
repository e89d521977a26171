/** Arrow types as the engine names them: what a table must have to take Arrow as it is. */
import { QueryError } from '@svc/base';
import { quoteIdentifier } from '@svc/sql';
import { DataType, type Field, Precision, TimeUnit, type TimeUnit as Unit } from 'apache-arrow';

/** Throws NOT_SUPPORTED naming the column (`path`) whose type the engine does not take. */
export function arrowEngineType(field: Field, path: string = field.name): string {
  if (field.metadata.get('ARROW:extension:name') === 'arrow.uuid') return 'UUID';
  const found = scalarType(field.type) ?? nestedType(field.type, path);
  if (found !== undefined) return found;
  throw new QueryError(
    'NOT_SUPPORTED',
    `Column ${JSON.stringify(path)} has the Arrow type ${String(field.type)}, which is not taken: cast it.`,
  );
}

function scalarType(type: DataType): string | undefined {
  if (DataType.isDictionary(type)) return scalarType(type.dictionary);
  // Nothing but NULL: any type will do.
  if (DataType.isNull(type)) return 'INTEGER';
  if (DataType.isBool(type)) return 'BOOLEAN';
  if (DataType.isInt(type)) return integerType(type.bitWidth, type.isSigned);
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? 'DOUBLE' : 'FLOAT';
  if (DataType.isDecimal(type))
    return type.bitWidth === 128 ? `DECIMAL(${type.precision},${type.scale})` : undefined;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return 'VARCHAR';
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type))
    return 'BLOB';
  if (DataType.isDate(type)) return 'DATE';
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? 'TIME_NS' : 'TIME';
  if (DataType.isTimestamp(type))
    return type.timezone ? 'TIMESTAMP WITH TIME ZONE' : timestampType(type.unit);
  if (DataType.isDuration(type) || DataType.isInterval(type)) return 'INTERVAL';
  return undefined;
}

function integerType(bits: number, isSigned: boolean): string {
  const name = bits === 8 ? 'TINYINT' : bits === 16 ? 'SMALLINT' : bits === 32 ? 'INTEGER' : 'BIGINT';
  return `${isSigned ? '' : 'U'}${name}`;
}

function timestampType(unit: Unit): string {
  if (unit === TimeUnit.SECOND) return 'TIMESTAMP_S';
  if (unit === TimeUnit.MILLISECOND) return 'TIMESTAMP_MS';
  return unit === TimeUnit.NANOSECOND ? 'TIMESTAMP_NS' : 'TIMESTAMP';
}

function nestedType(type: DataType, path: string): string | undefined {
  if (DataType.isDictionary(type)) return nestedType(type.dictionary, path);
  const child = (field: Field | undefined, name: string) =>
    field === undefined ? '' : arrowEngineType(field, `${path}.${name}`);
  if (DataType.isList(type) || DataType.isLargeList(type)) return `${child(type.children[0], 'element')}[]`;
  if (DataType.isFixedSizeList(type)) return `${child(type.children[0], 'element')}[${type.listSize}]`;
  if (DataType.isMap(type)) {
    const [key, value] = type.children[0]?.type.children ?? [];
    return `MAP(${child(key, 'key')}, ${child(value, 'value')})`;
  }
  if (!DataType.isStruct(type) || type.children.length === 0) return undefined;
  const fields = type.children.map((each) => `${quoteIdentifier(each.name)} ${child(each, each.name)}`);
  return `STRUCT(${fields.join(', ')})`;
}

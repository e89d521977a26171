/** Protocol messages that a well-behaved client library would not let one write. */

/** A length-delimited protobuf field: a string, bytes or a message. */
export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

/** CommandStatementQuery in its Any, with whatever bytes as its text. */
export function statementCommand(sql: Uint8Array): Buffer {
  const type = 'type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery';
  return Buffer.concat([field(1, type), field(2, field(1, sql))]);
}

/** SetSessionOptionsRequest of text values. */
export function sessionOptions(options: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(options).map(([name, value]) =>
      field(1, Buffer.concat([field(1, name), field(2, field(1, value))])),
    ),
  );
}

/** CommandGetDbSchemas of everything. */
export function getSchemasCommand(): Buffer {
  const type = 'type.googleapis.com/arrow.flight.protocol.sql.CommandGetDbSchemas';
  return Buffer.concat([field(1, type), field(2, '')]);
}

/** CommandGetTables of everything. */
export function getTablesCommand({ includeSchema }: { readonly includeSchema: boolean }): Buffer {
  const type = 'type.googleapis.com/arrow.flight.protocol.sql.CommandGetTables';
  const includeSchemaField = Buffer.of((5 << 3) | 0, includeSchema ? 1 : 0);
  return Buffer.concat([field(1, type), field(2, includeSchemaField)]);
}

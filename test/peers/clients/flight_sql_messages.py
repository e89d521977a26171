"""The few protobuf messages of Flight SQL that a pyarrow client needs, encoded and decoded by hand.

Field numbers: FlightSql.proto of Apache Arrow.
"""

import struct

TYPE_PREFIX = "type.googleapis.com/arrow.flight.protocol.sql."


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: str | bytes | bool | int | None) -> bytes:
    """One field; None and False are left out, as proto3 does."""
    if value is None or value is False:
        return b""
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    body = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(body)) + body


def fields(message: bytes) -> dict[int, bytes | int]:
    """The top-level fields of a message; of a repeated one the last."""
    found: dict[int, bytes | int] = {}
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        match key & 7:
            case 0:
                value, at = read_varint(message, at)
            case 1:
                value, at = struct.unpack_from("<q", message, at)[0], at + 8
            case 2:
                length, at = read_varint(message, at)
                value, at = message[at : at + length], at + length
            case wire:
                raise ValueError(f"wire type {wire}")
        found[key >> 3] = value
    return found


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def packed(name: str, *parts: bytes) -> bytes:
    """google.protobuf.Any around a Flight SQL message."""
    return field(1, TYPE_PREFIX + name) + field(2, b"".join(parts))


def unpacked(any_message: bytes) -> bytes:
    value = fields(any_message).get(2, b"")
    assert isinstance(value, bytes)
    return value


def statement_query(sql: str) -> bytes:
    return packed("CommandStatementQuery", field(1, sql))


def get_sql_info(*ids: int) -> bytes:
    return packed("CommandGetSqlInfo", *(field(1, id) for id in ids))


def get_catalogs() -> bytes:
    return packed("CommandGetCatalogs")


def get_schemas(catalog: str | None = None, pattern: str | None = None) -> bytes:
    return packed("CommandGetDbSchemas", field(1, catalog), field(2, pattern))


def get_tables(
    catalog: str | None = None,
    schema: str | None = None,
    table: str | None = None,
    types: tuple[str, ...] = (),
    include_schema: bool = False,
) -> bytes:
    return packed(
        "CommandGetTables",
        field(1, catalog),
        field(2, schema),
        field(3, table),
        *(field(4, kind) for kind in types),
        field(5, include_schema),
    )


def get_table_types() -> bytes:
    return packed("CommandGetTableTypes")


def get_primary_keys(table: str, schema: str | None = None, catalog: str | None = None) -> bytes:
    return packed("CommandGetPrimaryKeys", field(1, catalog), field(2, schema), field(3, table))


def get_exported_keys(table: str, schema: str | None = None, catalog: str | None = None) -> bytes:
    return packed("CommandGetExportedKeys", field(1, catalog), field(2, schema), field(3, table))


def get_imported_keys(table: str, schema: str | None = None, catalog: str | None = None) -> bytes:
    return packed("CommandGetImportedKeys", field(1, catalog), field(2, schema), field(3, table))


def get_cross_reference(pk_table: str, fk_table: str) -> bytes:
    return packed("CommandGetCrossReference", field(3, pk_table), field(6, fk_table))


def get_xdbc_type_info(data_type: int | None = None) -> bytes:
    # A negative int32 travels as the varint of its 64 bits.
    return packed("CommandGetXdbcTypeInfo", field(1, data_type if data_type is None else data_type % 2**64))


def create_prepared_statement(sql: str) -> bytes:
    return packed("ActionCreatePreparedStatementRequest", field(1, sql))


def prepared_statement_query(handle: bytes) -> bytes:
    return packed("CommandPreparedStatementQuery", field(1, handle))


def close_prepared_statement(handle: bytes) -> bytes:
    return packed("ActionClosePreparedStatementRequest", field(1, handle))


def statement_update(sql: str) -> bytes:
    return packed("CommandStatementUpdate", field(1, sql))


def cancel_query(info: bytes) -> bytes:
    return packed("ActionCancelQueryRequest", field(1, info))


def statement_ticket(handle: bytes) -> bytes:
    return packed("TicketStatementQuery", field(1, handle))

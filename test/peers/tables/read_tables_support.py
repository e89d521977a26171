"""What reading by the service and by pyiceberg differ in, and may."""

from uuid import UUID

import pyarrow as pa
import pyarrow.types as pt


def plain_uuids(table: pa.Table) -> pa.Table:
    """The service sends UUIDs as text, pyiceberg as an Arrow extension type, within structs, lists and maps too."""
    for index, field in enumerate(table.schema):
        kind = plain_type(field.type)
        if kind != field.type:
            values = [plain_value(value) for value in table.column(index).to_pylist()]
            table = table.set_column(index, field.name, pa.array(values, kind))
    return table


def plain_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.UuidType):
        return pa.string()
    if pt.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type)) for field in kind])
    if pt.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if pt.is_list(kind) or pt.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    return kind


def plain_value(value):
    match value:
        case UUID():
            return str(value)
        case dict():
            return {name: plain_value(item) for name, item in value.items()}
        case list() | tuple():
            return type(value)(map(plain_value, value))
    return value

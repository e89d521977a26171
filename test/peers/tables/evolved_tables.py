"""Tables whose schema changed after rows were written: every older file must be read by field id."""

from collections.abc import Callable

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.table.update.schema import UpdateSchema
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)

from table_case import Filter, TableCase

POINT = StructType(
    NestedField(100, "x", IntegerType(), required=False),
    NestedField(101, "y", FloatType(), required=False),
    NestedField(102, "label", StringType(), required=False),
)

COLUMNS = [
    ("id", LongType()),
    ("small", IntegerType()),
    ("real", FloatType()),
    ("price", DecimalType(9, 2)),
    ("name", StringType()),
    ("note", StringType()),
    ("point", POINT),
    ("points", ListType(110, POINT, element_required=False)),
    ("by_name", MapType(120, StringType(), 121, POINT, value_required=False)),
]


def value_of(kind, number: int):
    """A value of an Iceberg type, made from the row number; some are NULL, at every depth."""
    if number % 11 == 10:
        return None
    match kind:
        case IntegerType() | LongType():
            return number
        case FloatType() | DoubleType():
            return number / 4
        case DecimalType():
            return pa.scalar(number, pa.int64()).cast(pa.decimal128(19, 0)).as_py().scaleb(-2)
        case StringType():
            return f"text {number}"
        case StructType():
            return {field.name: value_of(field.field_type, number + 3 * field.field_id) for field in kind.fields}
        case ListType():
            return [value_of(kind.element_type, number + index) for index in range(number % 4)]
        case MapType():
            return [(f"key {index}", value_of(kind.value_type, number + index)) for index in range(number % 3)]
    raise TypeError(kind)


def append_rows(table: Table, start: int, count: int = 40) -> None:
    """Rows with the table's schema of this moment."""
    schema = table.schema()
    rows = [
        {field.name: value_of(field.field_type, number) for field in schema.fields} | {"id": number}
        for number in range(start, start + count)
    ]
    arrow = schema.as_arrow()
    table.append(pa.Table.from_pylist(rows, schema=arrow))


def evolved(name: str, *changes: Callable[[UpdateSchema], object], filters: tuple[Filter, ...] = ()) -> TableCase:
    """Appends, then changes the schema and appends again, once per change. Column `id` keeps the row number."""

    def write(catalog: SqlCatalog, identifier: str) -> Table:
        table = catalog.create_table(identifier, pa.schema([]))
        with table.update_schema() as update:
            for column, kind in COLUMNS:
                update.add_column(column, kind)
        append_rows(table, 0)
        for step, change in enumerate(changes, start=1):
            with table.update_schema(allow_incompatible_changes=True) as update:
                change(update)
            append_rows(table, 1000 * step)
        return table

    return TableCase(f"evolved_{name}", write, filters)


EVOLVED_TABLES = [
    evolved(
        "add",
        lambda update: update.add_column("extra", LongType()),
        lambda update: update.add_column("added_struct", POINT),
        filters=(Filter("extra is null"), Filter("extra > 1005"), Filter("id < 20", prunes=True)),
    ),
    evolved("drop", lambda update: update.delete_column("name"), lambda update: update.delete_column("point")),
    evolved(
        "drop_and_add_again",
        lambda update: update.delete_column("name"),
        lambda update: update.add_column("name", StringType()),
        filters=(Filter("name is null"), Filter("name = 'text 2005'")),
    ),
    evolved(
        "rename",
        lambda update: update.rename_column("name", "title"),
        filters=(Filter("title = 'text 7'", prunes=True), Filter("title = 'text 1007'")),
    ),
    evolved(
        "swap_names",
        lambda update: update.rename_column("name", "aside"),
        lambda update: update.rename_column("note", "name"),
        lambda update: update.rename_column("aside", "note"),
        filters=(Filter("name = 'text 1007'", prunes=True),),
    ),
    evolved(
        "reorder",
        lambda update: update.move_first("note"),
        lambda update: update.move_after("id", "point"),
        lambda update: update.move_before("points.label", "points.x"),
    ),
    evolved(
        "promote",
        lambda update: update.update_column("small", LongType()),
        lambda update: update.update_column("real", DoubleType()),
        lambda update: update.update_column("price", DecimalType(30, 2)),
        filters=(
            Filter("small = 7", prunes=True, by="rows"),
            Filter("small = 1007", prunes=True, by="rows"),
            Filter("real < 3.5", prunes=True, by="rows"),
            Filter("price < 0.07", prunes=True),
        ),
    ),
    evolved("struct_add", lambda update: update.add_column(("point", "z"), DoubleType())),
    evolved("struct_drop", lambda update: update.delete_column(("point", "label"))),
    evolved("struct_rename", lambda update: update.rename_column(("point", "x"), "abscissa")),
    evolved("struct_promote", lambda update: update.update_column(("point", "x"), LongType())),
    evolved("struct_column_rename", lambda update: update.rename_column("point", "location")),
    evolved(
        "list_element",
        lambda update: update.add_column(("points", "z"), DoubleType()),
        lambda update: update.rename_column(("points", "x"), "abscissa"),
        lambda update: update.delete_column(("points", "y")),
    ),
    evolved(
        "map_value",
        lambda update: update.add_column(("by_name", "z"), DoubleType()),
        lambda update: update.rename_column(("by_name", "label"), "caption"),
        lambda update: update.update_column(("by_name", "value", "x"), LongType()),
    ),
    evolved(
        "nested_in_nested",
        lambda update: update.add_column(("point", "inner"), POINT),
        lambda update: update.rename_column(("point", "inner", "x"), "deep"),
    ),
]

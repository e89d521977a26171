"""Every primitive type with its extremes and NULLs, nested types at every depth, and awkward column names."""

from datetime import date, datetime, time, timezone
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import FixedType, NestedField

from table_case import Filter, TableCase

INFINITY = float("inf")
NOT_A_NUMBER = float("nan")

PRIMITIVES = {
    "a_bool": (pa.bool_(), [True, False]),
    "an_int": (pa.int32(), [-(2**31), -1, 0, 2**31 - 1]),
    "a_long": (pa.int64(), [-(2**63), -1, 0, 2**53 + 1, 2**63 - 1]),
    "a_float": (pa.float32(), [0.5, -0.0, INFINITY, -INFINITY, NOT_A_NUMBER]),
    "a_double": (pa.float64(), [0.1, -0.0, 5e-324, 1.7e308, INFINITY, -INFINITY, NOT_A_NUMBER]),
    "decimal_4": (pa.decimal128(4, 2), [Decimal("-99.99"), Decimal("0.00"), Decimal("99.99")]),
    "decimal_9": (pa.decimal128(9, 0), [Decimal("-999999999"), Decimal("1")]),
    "decimal_18": (pa.decimal128(18, 6), [Decimal("-999999999999.999999"), Decimal("0.000001")]),
    "decimal_38": (pa.decimal128(38, 10), [Decimal("-" + "9" * 28 + "." + "9" * 10), Decimal("1e-10")]),
    "decimal_38_0": (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    "a_date": (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)]),
    "a_time": (pa.time64("us"), [time(0), time(12, 34, 56, 789012), time(23, 59, 59, 999999)]),
    "a_timestamp": (
        pa.timestamp("us"),
        [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31, 23, 59, 59, 999999)],
    ),
    "a_timestamptz": (
        pa.timestamp("us", tz="UTC"),
        [datetime(1900, 1, 1, tzinfo=timezone.utc), datetime(2026, 3, 29, 1, 30, tzinfo=timezone.utc)],
    ),
    "a_string": (pa.string(), ["", " ", "a'b\"c", "snow ☃ \U0001f600", "line\nbreak\ttab", "x" * 5000, "\u0000"]),
    "a_binary": (pa.binary(), [b"", b"\x00", b"\xff" * 300, b"plain"]),
    "a_uuid": (pa.uuid(), [UUID(int=0).bytes, UUID(int=2**128 - 1).bytes, UUID(int=1 << 64).bytes]),
}


def write_primitives(catalog: SqlCatalog, identifier: str) -> Table:
    """Row n has the n-th value of each column; then a row of NULLs only."""
    schema = pa.schema([("id", pa.int64()), *((name, kind) for name, (kind, _) in PRIMITIVES.items())])
    longest = max(len(values) for _, values in PRIMITIVES.values())
    rows = [
        {"id": number, **{name: values[number] if number < len(values) else None for name, (_, values) in PRIMITIVES.items()}}
        for number in range(longest + 1)
    ]
    table = catalog.create_table(identifier, schema)
    table.append(pa.Table.from_pylist(rows, schema=schema))
    return table


def write_one_value_files(catalog: SqlCatalog, identifier: str) -> Table:
    """One file per row, so that each value is its file's lower and upper bound."""
    schema = pa.schema([("id", pa.int64()), *((name, kind) for name, (kind, _) in PRIMITIVES.items())])
    table = catalog.create_table(identifier, schema)
    for number in range(3):
        row = {"id": number, **{name: values[number % len(values)] for name, (_, values) in PRIMITIVES.items()}}
        table.append(pa.Table.from_pylist([row], schema=schema))
    return table


def write_not_a_number(catalog: SqlCatalog, identifier: str) -> Table:
    """Bounds leave NaN out, but DuckDB orders it above every number, and itself prunes Parquet files by such bounds."""
    schema = pa.schema([("id", pa.int64()), ("x", pa.float64())])
    table = catalog.create_table(identifier, schema)
    for number, values in enumerate([[1.0, 2.0], [1.0, NOT_A_NUMBER], [NOT_A_NUMBER], [None], [-INFINITY, INFINITY]]):
        table.append(pa.table({"id": [number] * len(values), "x": pa.array(values, pa.float64())}, schema=schema))
    return table


def write_fixed(catalog: SqlCatalog, identifier: str) -> Table:
    table = catalog.create_table(identifier, Schema(NestedField(1, "code", FixedType(5), required=False)))
    table.append(pa.table({"code": pa.array([b"12345", b"\x00\x01\x02\x03\xff", None], pa.binary(5))}))
    return table


def write_required(catalog: SqlCatalog, identifier: str) -> Table:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string(), nullable=False)])
    table = catalog.create_table(identifier, schema)
    table.append(pa.table({"id": [1, 2], "name": ["one", "two"]}, schema=schema))
    return table


NESTED = pa.schema(
    [
        ("id", pa.int64()),
        ("plain_struct", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        ("list_of_int", pa.list_(pa.int32())),
        ("list_of_list", pa.list_(pa.list_(pa.string()))),
        ("list_of_struct", pa.list_(pa.struct([("when", pa.timestamp("us")), ("price", pa.decimal128(12, 3))]))),
        ("map_of_int", pa.map_(pa.string(), pa.int64())),
        ("map_of_struct", pa.map_(pa.int32(), pa.struct([("x", pa.float64()), ("tags", pa.list_(pa.string()))]))),
        ("deep", pa.struct([("inner", pa.struct([("items", pa.list_(pa.map_(pa.string(), pa.date32())))]))])),
    ]
)

NESTED_ROWS = [
    {
        "id": 1,
        "plain_struct": {"a": 1, "b": "one"},
        "list_of_int": [1, None, 3],
        "list_of_list": [["a"], [], None, ["b", None]],
        "list_of_struct": [{"when": datetime(2020, 1, 1), "price": Decimal("1.250")}, None],
        "map_of_int": [("a", 1), ("b", None)],
        "map_of_struct": [(1, {"x": 0.5, "tags": ["t", None]}), (2, None)],
        "deep": {"inner": {"items": [[("k", date(2001, 2, 3))], [], None]}},
    },
    {
        "id": 2,
        "plain_struct": {"a": None, "b": None},
        "list_of_int": [],
        "list_of_list": [],
        "list_of_struct": [],
        "map_of_int": [],
        "map_of_struct": [(7, {"x": None, "tags": []})],
        "deep": {"inner": None},
    },
    {"id": 3},
]


def write_nested(catalog: SqlCatalog, identifier: str) -> Table:
    table = catalog.create_table(identifier, NESTED)
    table.append(pa.Table.from_pylist(NESTED_ROWS, schema=NESTED))
    return table


AWKWARD_NAMES = ["with space", 'quo"ted', "dotted.name", "select", "CamelCase", "ünï☃", "1st", "semi;colon", "a-b", "__row_delta"]


def write_awkward_names(catalog: SqlCatalog, identifier: str) -> Table:
    schema = pa.schema([(name, pa.int64()) for name in AWKWARD_NAMES])
    table = catalog.create_table(identifier, schema)
    for start in (0, 100):
        table.append(pa.table({name: [start + offset, None] for offset, name in enumerate(AWKWARD_NAMES)}, schema=schema))
    return table


TYPED_TABLES = [
    TableCase(
        "types_primitive",
        write_primitives,
        (
            Filter("a_long = 9007199254740993"),
            Filter("a_long = 9223372036854775807"),
            Filter("decimal_38_0 = 99999999999999999999999999999999999999"),
            Filter("a_string = ''"),
            Filter("a_date < '1000-01-01'"),
            Filter("a_double > 1e308", by="files"),
            Filter("a_float >= 'nan'::float", by="files"),
        ),
    ),
    TableCase(
        "types_bounds",
        write_one_value_files,
        (
            Filter("a_long = -9223372036854775808", prunes=True),
            Filter("an_int >= 0", prunes=True),
            Filter("decimal_18 < 0", prunes=True),
            Filter("decimal_38 < 0", prunes=True),
            Filter("decimal_4 = 99.99", prunes=True),
            Filter("a_date = '0001-01-01'", prunes=True),
            Filter("a_time > '20:00:00'", prunes=True),
            Filter("a_timestamp > '5000-01-01T00:00:00'", prunes=True),
            Filter("a_string = 'a''b\"c'", prunes=True),
            Filter("a_double > 0.05"),
            Filter("a_float <= 0"),
            Filter("a_bool = false", prunes=True),
        ),
    ),
    TableCase(
        "types_not_a_number",
        write_not_a_number,
        (
            Filter("x > 5", by="files"),
            Filter("x >= 'nan'::double", by="files"),
            Filter("x != 1", by="files"),
            Filter("x < 1.5", by="files"),
            Filter("not x <= 2", by="files"),
            Filter("x is null", by="files", prunes=True),
        ),
    ),
    TableCase("types_fixed", write_fixed),
    TableCase("types_required", write_required),
    TableCase("types_nested", write_nested, (Filter("id = 2"),)),
    TableCase("names_awkward", write_awkward_names, (Filter('"with space" > 50', prunes=True),)),
]

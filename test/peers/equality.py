"""Whether two Arrow tables hold the same result.

Equal means: the same column names, the same types (different physical spellings of one logical type count as the same),
the same multiset of rows, or the same sequence where the order is total; floating point within a relative tolerance,
everything else exact.
"""

import math
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pyarrow.types as pt

SHOWN_ROWS = 3


def difference(expected: pa.Table, actual: pa.Table, *, ordered: bool = False, tolerance: float = 0.0) -> str | None:
    """A sentence about the first difference, or None."""
    if expected.column_names != actual.column_names:
        return f"columns {actual.column_names}, expected {expected.column_names}"
    for left, right in zip(expected.schema, actual.schema):
        if spelling(left.type) != spelling(right.type):
            return f"column {left.name} is {right.type}, expected {left.type}"
    if expected.num_rows != actual.num_rows:
        return f"{actual.num_rows} rows, expected {expected.num_rows}"
    wanted, got = rows_of(expected), rows_of(actual)
    if not ordered:
        wanted, got = sorted(wanted, key=sort_key), sorted(got, key=sort_key)
    wrong = [(want, have) for want, have in zip(wanted, got) if not same(want, have, tolerance)]
    if not wrong:
        return None
    shown = "; ".join(f"{have!r}, expected {want!r}" for want, have in wrong[:SHOWN_ROWS])
    return f"{len(wrong)} of {len(wanted)} rows differ: {shown}"[:2000]


def spelling(kind: pa.DataType) -> str:
    """One name per logical type, whatever its physical form."""
    if pt.is_dictionary(kind):
        return spelling(kind.value_type)
    if isinstance(kind, pa.UuidType):
        return "uuid"
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return "string"
    if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_fixed_size_binary(kind) or pt.is_binary_view(kind):
        return "binary"
    if pt.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    if pt.is_timestamp(kind):
        return f"timestamp{'tz' if kind.tz else ''}[{kind.unit}]"
    if pt.is_struct(kind):
        return "struct<" + ", ".join(f"{field.name}: {spelling(field.type)}" for field in kind) + ">"
    if pt.is_map(kind):
        return f"map<{spelling(kind.key_type)}, {spelling(kind.item_type)}>"
    if pt.is_list(kind) or pt.is_large_list(kind) or pt.is_list_view(kind) or pt.is_fixed_size_list(kind):
        return f"list<{spelling(kind.value_type)}>"
    return str(kind)


def rows_of(table: pa.Table) -> list[tuple]:
    columns = [column_values(table.column(index)) for index in range(table.num_columns)]
    return list(zip(*columns)) if columns else [()] * table.num_rows


def column_values(column: pa.ChunkedArray) -> list:
    """Python values. Timestamps as numbers of their unit: Python knows neither nanoseconds nor the year 0."""
    if pt.is_timestamp(column.type):
        return column.cast(pa.int64()).to_pylist()
    return column.to_pylist()


def same(left, right, tolerance: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or math.isclose(left, right, rel_tol=tolerance)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(same(one, other, tolerance) for one, other in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[name], right[name], tolerance) for name in left)
    return left == right


def sort_key(row: tuple) -> tuple:
    """Exact values first, so that floats that differ in their last digits do not reorder the rows."""
    return tuple(map(key_of, (value for value in row if not isinstance(value, float)))), tuple(
        map(key_of, (value for value in row if isinstance(value, float)))
    )


def key_of(value) -> tuple:
    match value:
        case None:
            return (0,)
        case bool() | int() | Decimal():
            return (1, value)
        case float():
            return (2, -math.inf) if math.isnan(value) else (3, value)
        case str():
            return (4, value)
        case bytes():
            return (5, value)
        case UUID():
            return (6, value.bytes)
        case dict():
            return (7, tuple((name, key_of(item)) for name, item in value.items()))
        case list() | tuple():
            return (8, tuple(map(key_of, value)))
    return (9, str(type(value)), value)

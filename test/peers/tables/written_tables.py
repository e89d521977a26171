"""Tables that the service wrote, read and pruned by pyiceberg: each type with each transform, in both format versions."""

import re
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
from pyiceberg.expressions import EqualTo
from pyiceberg.table import StaticTable

from checks import Checks, expect
from equality import difference
from read_tables_support import plain_uuids
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")
schema = f"written_{uuid.uuid4().hex[:8]}"
connection = adbc.connect(
    target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
)
ROWS = 240


@dataclass(frozen=True)
class Column:
    type: str
    sql: str
    transforms: tuple[str, ...]
    #: Whether pyiceberg evaluates an equality on it, and on each of its transforms, as the specification has it.
    filters: bool = True


TIMES = ("identity(v)", "year(v)", "month(v)", "day(v)", "hour(v)", "bucket(4, v)")
COLUMNS = {
    "boolean": Column("BOOLEAN", "i % 2 = 0", ("identity(v)",)),
    "int": Column("INTEGER", "(i % 12 - 6)::INTEGER", ("identity(v)", "bucket(4, v)", "truncate(5, v)")),
    "long": Column("BIGINT", "i % 12 * 4000000000 - 9000000000", ("identity(v)", "bucket(4, v)", "truncate(5, v)")),
    "float": Column("REAL", "(i % 7 / 4.0)::REAL", ("identity(v)",), filters=False),
    "double": Column("DOUBLE", "i % 7 / 8.0", ("identity(v)",), filters=False),
    # pyiceberg 0.11.1 hashes decimals otherwise than the specification: their buckets are compared by rows alone.
    "decimal": Column("DECIMAL(18, 4)", "(i % 9 - 4)::DECIMAL(18, 4) * 1.25", ("identity(v)", "bucket(4, v)", "truncate(100, v)"), filters=False),
    "long_decimal": Column("DECIMAL(38, 2)", "((i % 9 - 4) || '00000000000000000000.25')::DECIMAL(38, 2)", ("identity(v)",), filters=False),
    "date": Column("DATE", "DATE '1968-11-20' + (i % 20 * 61)::INTEGER", ("identity(v)", "year(v)", "month(v)", "day(v)", "bucket(4, v)")),
    "time": Column("TIME", "make_time(i % 24, 0, 0.5)", ("identity(v)", "bucket(4, v)"), filters=False),
    "timestamp": Column("TIMESTAMP", "TIMESTAMP '1969-12-31 20:00:00' + to_hours(i % 10)", TIMES),
    "timestamptz": Column("TIMESTAMPTZ", "TIMESTAMPTZ '1969-12-31 20:00:00+00' + to_hours(i % 10)", TIMES),
    "string": Column("VARCHAR", "['north', 'süd', '', 'a/b=c%d', '東京🦆'][i % 5 + 1]", ("identity(v)", "bucket(4, v)", "truncate(2, v)")),
    # pyiceberg compares UUIDs with bytes when it prunes by them.
    "uuid": Column("UUID", "md5((i % 6)::VARCHAR)::UUID", ("identity(v)", "bucket(4, v)"), filters=False),
    "binary": Column("BLOB", "unhex(substr(md5((i % 6)::VARCHAR), 1, 8))", ("identity(v)", "bucket(4, v)", "truncate(2, v)"), filters=False),
}
EXTRA = "STRUCT(a INTEGER, b VARCHAR[])", "CASE WHEN i % 3 > 0 THEN {'a': i::INTEGER, 'b': ['x', NULL]} END"
MAP = "MAP(VARCHAR, DOUBLE)", "MAP(['k' || i % 4], [i / 2.0])"


def run(sql: str) -> pa.Table | None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table() if cursor.description else None


def source(column: Column) -> str:
    value = f"CASE WHEN i % 11 > 0 THEN {column.sql} END"
    return f"SELECT i AS id, {value} AS v, {EXTRA[1]} AS nested, {MAP[1]} AS pairs FROM range({ROWS}) r(i)"


def pyiceberg_table(name: str) -> StaticTable:
    folder = Path(target.tables) / "warehouse" / schema / name / "metadata"
    versions = {int(found[1]): path for path in folder.iterdir() if (found := re.fullmatch(r"v(\d+)\.metadata\.json", path.name))}
    return StaticTable.from_metadata(f"file://{versions[max(versions)]}")


def round_trip(name: str, column: Column, transform: str | None, version: int):
    def check():
        partitioned = f"PARTITIONED BY ({transform})" if transform else ""
        run(
            f"CREATE TABLE {schema}.{name} (id BIGINT NOT NULL, v {column.type}, nested {EXTRA[0]}, pairs {MAP[0]}) "
            f"{partitioned} TBLPROPERTIES ('format-version' = '{version}')"
        )
        run(f"INSERT INTO {schema}.{name} {source(column)}")
        expected = plain_uuids(run(f"SELECT id, v::{column.type} AS v, nested, pairs FROM ({source(column)})"))
        table = pyiceberg_table(name)
        expect(table.metadata.format_version, version)
        expect(difference(expected, plain_uuids(table.scan().to_arrow())), None, "pyiceberg")
        expect(difference(expected, plain_uuids(run(f"SELECT * FROM {schema}.{name}"))), None, "the service")
        return f"{expected.num_rows} rows{pruned(table, expected, column)}"

    return check


def pruned(table: StaticTable, expected: pa.Table, column: Column) -> str:
    """Rows of one value, which must all be in the files that are left."""
    files = len(list(table.scan().plan_files()))
    if not column.filters:
        return f", {files} files"
    value = expected.column("v")[7].as_py()
    wanted = expected.filter(pa.compute.equal(expected.column("v"), expected.column("v")[7]))
    scan = table.scan(row_filter=EqualTo("v", value.isoformat() if hasattr(value, "isoformat") else value))
    left = len(list(scan.plan_files()))
    expect(difference(wanted, scan.to_arrow()), None, f"v = {value}")
    if files > 2:
        expect(left < files, True, f"pruned: {left} of {files} files left")
    return f", {left} of {files} files for one value"


def appended_and_evolved():
    """Further snapshots on a table that has some, and what their summaries say."""
    run(f"CREATE TABLE {schema}.grown PARTITIONED BY (region) AS SELECT 1::BIGINT AS id, 'north' AS region")
    for number in range(2, 8):
        run(f"INSERT INTO {schema}.grown VALUES ({number}, 'south'), ({number}, NULL)")
    table = pyiceberg_table("grown")
    summary = table.current_snapshot().summary
    expect(len(table.metadata.snapshots), 7)
    expect((summary["total-records"], summary["total-data-files"], summary["added-records"]), ("13", "13", "2"))
    expect(table.scan().to_arrow().num_rows, 13)
    expect(table.scan(snapshot_id=table.metadata.snapshots[0].snapshot_id).to_arrow().num_rows, 1)


def replaced(version: int):
    """A table that was replaced twice: other columns and partitions, and the rows of before in its history."""

    def check():
        name = f"replaced_v{version}"
        properties = f"TBLPROPERTIES ('format-version' = '{version}')"
        run(f"CREATE TABLE {schema}.{name} PARTITIONED BY (day, bucket(4, id)) {properties} AS SELECT i AS id, DATE '2024-01-01' + (i % 3)::INTEGER AS day, 'old' AS text FROM range(50) r(i)")
        run(f"CREATE OR REPLACE TABLE {schema}.{name} (text DOUBLE, id BIGINT)")
        expect(pyiceberg_table(name).scan().to_arrow().num_rows, 0)
        run(f"CREATE OR REPLACE TABLE {schema}.{name} PARTITIONED BY (bucket(4, id), region) AS SELECT i % 2 AS region, i + 0.5 AS text, i AS id FROM range(60) r(i)")
        run(f"INSERT INTO {schema}.{name} VALUES (7, 8.5, 9)")
        table = pyiceberg_table(name)
        expected = run(f"SELECT * FROM {schema}.{name}")
        expect((expected.num_rows, table.metadata.format_version, len(table.metadata.snapshots)), (61, version, 4))
        expect(difference(expected, table.scan().to_arrow()), None, "pyiceberg")
        first = table.metadata.snapshots[0].snapshot_id
        before = table.scan(snapshot_id=first).to_arrow()
        expect(difference(run(f"SELECT * FROM {schema}.{name} FOR VERSION AS OF {first}"), before), None, "history")
        expect(before.num_rows, 50)
        expect(len({field.field_id for each in table.metadata.schemas for field in each.fields}), 6)

    return check


run(f"CREATE SCHEMA {schema}")
for column_name, each in COLUMNS.items():
    for format_version in (1, 2):
        for each_transform in (None, *each.transforms, "void(v)"):
            kind = re.sub(r"\W+", "_", each_transform or "unpartitioned").strip("_")
            table_name = f"{column_name}_{kind}_v{format_version}"
            checks.add(table_name, round_trip(table_name, each, each_transform, format_version))
checks.add("snapshots one after the other", appended_and_evolved)
for format_version in (1, 2):
    checks.add(f"replaced in format {format_version}", replaced(format_version))
checks.run()
connection.close()

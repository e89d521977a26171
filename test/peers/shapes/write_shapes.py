"""Writes tables through an Iceberg REST catalog, by pyiceberg or by DuckDB's Iceberg extension, and prints one JSON line
for each: its name, where its metadata is, a statement that makes one text of each row, and the texts that are right.

Arguments: `pyiceberg` or `duckdb`, catalog URI, S3 endpoint.
"""

import json
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from duckdb_extensions import connect
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import DateType, DecimalType, IntegerType, LongType, NestedField, StringType, TimestampType

ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("k", pa.int32()),
        ("name", pa.string()),
        ("amount", pa.decimal128(9, 2)),
        ("day", pa.date32()),
        ("ts", pa.timestamp("us")),
    ]
)
SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "k", IntegerType()),
    NestedField(3, "name", StringType()),
    NestedField(4, "amount", DecimalType(9, 2)),
    NestedField(5, "day", DateType()),
    NestedField(6, "ts", TimestampType()),
)


def rows_of(first: int, count: int) -> list[dict]:
    return [
        {
            "id": i,
            "k": None if i % 9 == 0 else i % 9,
            "name": None if i % 11 == 0 else f"n{i % 3}ü{i}",
            "amount": Decimal(i * 101 - 300).scaleb(-2),
            "day": date(2023, 11, 15) + timedelta(days=i),
            "ts": None if i % 10 == 9 else datetime(1969, 12, 31, 7) + timedelta(hours=i % 4 * 13),
        }
        for i in range(first, first + count)
    ]


def report(catalog: Catalog, name: str, columns: list[str], rows: list[dict]) -> None:
    """`columns` are the table's present ones, in order; rows have values by name."""
    parts = ", ".join(f"""coalesce(CAST("{column}" AS VARCHAR), 'NULL')""" for column in columns)
    texts = ["|".join("NULL" if row.get(column) is None else str(row[column]) for column in columns) for row in rows]
    print(
        json.dumps(
            {
                "table": name,
                "metadata": catalog.load_table(name).metadata_location,
                "sql": f"concat_ws('|', {parts})",
                "rows": sorted(texts),
                "rowIds": [],
            }
        )
    )


def write_by_pyiceberg(catalog: Catalog) -> None:
    """It deletes by writing files anew, and evolves schemas and specs."""
    cases: list[tuple[int, str, int, Transform]] = [
        (1, "none", 0, IdentityTransform()),
        (1, "identity", 2, IdentityTransform()),
        (1, "truncate", 3, TruncateTransform(2)),
        (1, "year", 5, YearTransform()),
        (2, "bucket", 1, BucketTransform(3)),
        (2, "month", 5, MonthTransform()),
        (2, "day", 6, DayTransform()),
        (2, "hour", 6, HourTransform()),
    ]
    for version, kind, source, transform in cases:
        name = f"by_pyiceberg.v{version}_{kind}"
        spec = PartitionSpec(PartitionField(source, 1000, transform, "part")) if source else PartitionSpec()
        properties = {"format-version": str(version)}
        table = catalog.create_table(name, SCHEMA, partition_spec=spec, properties=properties)
        rows = rows_of(0, 40)
        table.append(pa.Table.from_pylist(rows, ARROW))
        # Not both in one condition: pyiceberg would keep a row for which one half is NULL and the other holds.
        table.delete("k = 4")
        table.delete("id < 3")
        rows = [row for row in rows if row["k"] != 4 and row["id"] >= 3]
        with table.update_schema() as update:
            update.rename_column("name", "title")
            update.update_column("k", LongType())
            update.update_column("amount", DecimalType(12, 2))
            update.add_column("region", StringType())
            update.move_first("day")
        rows = [{**row, "title": row["name"]} for row in rows]
        later = [{**row, "title": row["name"], "region": "EU"} for row in rows_of(100, 10)]
        table.append(pa.Table.from_pylist(later, table.schema().as_arrow()))
        table.delete("id = 104")
        rows += [row for row in later if row["id"] != 104]
        report(catalog, name, ["day", "id", "k", "title", "amount", "ts", "region"], rows)


def write_by_duckdb(catalog: Catalog, uri: str) -> None:
    """It deletes by position delete files in format 2, and by deletion vectors in format 3."""
    connection = connect()
    connection.execute(f"ATTACH '' AS rest (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none')")
    cases = [
        (2, "none", ""),
        (2, "bucket", "bucket(3, id)"),
        (2, "month", "month(day)"),
        (2, "hour", "hour(ts)"),
        (3, "none", ""),
        (3, "identity", "k"),
        (3, "truncate", "truncate(2, name)"),
        (3, "year", "year(day)"),
        (3, "day", "day(ts)"),
    ]
    for version, kind, partition in cases:
        name = f"by_duckdb.v{version}_{kind}"
        table = f"rest.{name}"
        connection.execute(
            f"CREATE TABLE {table} (id BIGINT, k INTEGER, name VARCHAR, amount DECIMAL(9, 2), day DATE, ts TIMESTAMP)"
            + (f" PARTITIONED BY ({partition})" if partition else "")
            + f" WITH ('format-version' = {version})"
        )
        rows = rows_of(0, 40)
        for part in (rows[:20], rows[20:]):
            arrow = pa.Table.from_pylist(part, ARROW)
            connection.register("part", arrow)
            connection.execute(f"INSERT INTO {table} SELECT * FROM part")
        connection.execute(f"DELETE FROM {table} WHERE id % 10 = 3")
        connection.execute(f"DELETE FROM {table} WHERE id % 10 = 4")
        connection.execute(f"UPDATE {table} SET name = 'changed' WHERE id % 10 = 5")
        rows = [row for row in rows if row["id"] % 10 not in (3, 4)]
        rows = [{**row, "name": "changed"} if row["id"] % 10 == 5 else row for row in rows]
        columns = [*ARROW.names]
        if kind == "none":
            for change in ("RENAME COLUMN name TO title", "ALTER COLUMN k TYPE BIGINT", "ADD COLUMN region VARCHAR", "DROP COLUMN day"):
                connection.execute(f"ALTER TABLE {table} {change}")
            connection.execute(f"INSERT INTO {table} (id, title, region) VALUES (100, 'late', 'EU')")
            connection.execute(f"DELETE FROM {table} WHERE id = 8")
            rows = [{**row, "title": row["name"]} for row in rows if row["id"] != 8]
            rows.append({"id": 100, "title": "late", "region": "EU"})
            columns = ["id", "k", "title", "amount", "ts", "region"]
        report(catalog, name, columns, rows)


writer, uri, endpoint = sys.argv[1:]
rest = load_catalog("rest", uri=uri, **{"s3.endpoint": endpoint, "header.X-Iceberg-Access-Delegation": "vended-credentials"})
rest.create_namespace(f"by_{writer}")
if writer == "duckdb":
    write_by_duckdb(rest, uri)
else:
    write_by_pyiceberg(rest)

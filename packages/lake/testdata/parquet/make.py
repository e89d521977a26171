"""Writes the Parquet files of this folder. See README.md."""
import datetime as dt
import decimal
import os
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def with_id(field, number):
    return field.with_metadata({"PARQUET:field_id": str(number)})


def rows():
    """8 row groups of 50 rows: sorted ids, so that each row group has its own range."""
    count = 400
    fields = [
        with_id(pa.field("id", pa.int64(), nullable=False), 1),
        with_id(pa.field("name", pa.string()), 2),
        with_id(pa.field("price", pa.decimal128(9, 2)), 3),
        with_id(pa.field("day", pa.date32()), 4),
        with_id(
            pa.field("place", pa.struct([with_id(pa.field("city", pa.string()), 6), with_id(pa.field("zip", pa.int32()), 7)])), 5
        ),
        with_id(pa.field("tags", pa.list_(with_id(pa.field("element", pa.string()), 9))), 8),
    ]
    table = pa.table(
        [
            pa.array(range(count), pa.int64()),
            pa.array([None if i % 7 == 0 else f"name-{i:04d}" for i in range(count)]),
            pa.array([decimal.Decimal(i * 25 - 1000) / 100 for i in range(count)], pa.decimal128(9, 2)),
            pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(count)]),
            pa.array([None if i % 11 == 0 else {"city": f"city-{i % 5}", "zip": i} for i in range(count)], fields[4].type),
            pa.array([[f"t{i % 3}", None] if i % 2 else [] for i in range(count)], fields[5].type),
        ],
        schema=pa.schema(fields),
    )
    pq.write_table(table, "rows.parquet", row_group_size=50, compression="snappy", store_schema=False)


def types():
    """2 row groups, all types that a table can have, nulls, NaN and both zeros; without field ids."""
    when = dt.datetime(2024, 5, 17, 12, 34, 56, 789000)
    table = pa.table(
        {
            "flag": pa.array([True, False, None, True]),
            "small": pa.array([-1, 2, 3, 4], pa.int8()),
            "i": pa.array([-(2**31), 2**31 - 1, None, 7], pa.int32()),
            "l": pa.array([-(2**63), 2**63 - 1, 0, None], pa.int64()),
            "u": pa.array([0, 2**32 - 1, 5, 6], pa.uint32()),
            "f": pa.array([-0.0, 0.0, 1.5, float("nan")], pa.float32()),
            "d": pa.array([-0.0, 0.0, float("inf"), 2.5], pa.float64()),
            "dec9": pa.array([decimal.Decimal("-1.25"), decimal.Decimal("1.25"), None, None], pa.decimal128(9, 2)),
            "dec38": pa.array([decimal.Decimal("-99999999999999999999.01")] * 4, pa.decimal128(38, 2)),
            "date": pa.array([dt.date(1969, 12, 31), dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
            "time": pa.array([dt.time(1, 2, 3, 4)] * 4, pa.time64("us")),
            "ts_ms": pa.array([when] * 4, pa.timestamp("ms")),
            "ts_us": pa.array([when] * 4, pa.timestamp("us")),
            "ts_ns": pa.array([when] * 4, pa.timestamp("ns")),
            "tz_us": pa.array([when] * 4, pa.timestamp("us", "UTC")),
            "text": pa.array(["a", "b", None, "\U0001f600"]),
            "blob": pa.array([b"\x00", b"\xff", None, b""], pa.binary()),
            "fixed": pa.array([b"abcd"] * 4, pa.binary(4)),
            "uid": pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2**127).bytes] * 2, pa.uuid()),
            "map": pa.array([[("k", 1)], None, [], [("k", None)]], pa.map_(pa.string(), pa.int32())),
        }
    )
    pq.write_table(table, "types.parquet", row_group_size=2, compression="none", store_schema=False)


def bloom():
    """4 row groups whose ranges overlap, with bloom filters: only these tell them apart."""
    duckdb.sql(
        """copy (select (i % 32) * 4 + i // 2048 as k, 'v' || ((i % 32) * 4 + i // 2048) as v
           from range(8192) r(i) order by i) to 'bloom.parquet'
           (format parquet, row_group_size 2048, compression zstd)"""
    )


def fixed():
    """3 row groups as the service's engine writes fixed columns (as BLOB), of both page encodings, beside others."""
    duckdb.sql(
        """copy (select i as id, case when i % 5 > 0 then unhex(printf('%06x', i % 3)) end as few, unhex(printf('%08x', i)) as many,
           case when i % 4 > 0 then [unhex(printf('%04x', i % 7)), null] end as list, (i % 3) / 4 as ratio, 'n' || i % 3 as name
           from range(5000) r(i) order by i) to 'fixed.parquet'
           (format parquet, row_group_size 2048, compression zstd,
            field_ids {id: 1, few: 2, many: 3, list: {__duckdb_field_id: 4, element: 5}, ratio: 6, name: 7})"""
    )


def int96():
    table = pa.table({"ts": pa.array([dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)], pa.timestamp("us"))})
    pq.write_table(table, "int96.parquet", use_deprecated_int96_timestamps=True, store_schema=False)


def gaps():
    """5 row groups, of which the second and the fourth have no rows."""
    table = pa.table({"id": pa.array(range(9), pa.int64())})
    with pq.ParquetWriter("gaps.parquet", table.schema, compression="snappy", store_schema=False) as writer:
        for first, count in [(0, 4), (4, 0), (4, 3), (7, 0), (7, 2)]:
            writer.write_table(table.slice(first, count))


rows()
types()
gaps()
bloom()
fixed()
int96()

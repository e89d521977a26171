"""Makes the tables of this folder: `python make.py`. Each gets its rows beside it, as two other readers found them."""

import datetime as dt
import decimal
import glob
import importlib.util
import json
import os
import shutil
import sys
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from delta_writer import (
    field,
    inline_vector,
    log_path,
    metadata,
    protocol,
    removed,
    schema_of,
    stored_vectors,
    with_vector,
    write_actions,
    write_commit,
    write_rows,
)
from deltalake import DeltaTable, QueryBuilder, write_deltalake

UTC = dt.timezone.utc


def grown(table):
    """Appends, another column, rewritten and removed files, a checkpoint in the middle."""
    rows = lambda start: pa.table({"id": pa.array(range(start, start + 6)), "part": ["a", "b c", None] * 2})
    write_deltalake(table, rows(0), partition_by=["part"])
    wider = rows(6).append_column("note", pa.array([f"n{i}" for i in range(6)]))
    write_deltalake(table, wider, mode="append", schema_mode="merge")
    DeltaTable(table).delete("id = 7 or id = 2")
    for start in (12, 18):
        write_deltalake(table, rows(start), mode="append", schema_mode="merge")
    DeltaTable(table).create_checkpoint()
    DeltaTable(table).delete("part = 'a' and id > 11")
    write_deltalake(table, rows(24), mode="append", schema_mode="merge")


def cleaned(table):
    """Only a checkpoint in two parts (zstd, gzip) and a commit are left."""
    grown(table)
    log = os.path.join(table, "_delta_log")
    (whole,) = glob.glob(os.path.join(log, "*.checkpoint.parquet"))
    actions = pq.read_table(whole)
    version = os.path.basename(whole)[:20]
    middle = actions.num_rows // 2
    for part, rows, codec in ((1, actions[:middle], "zstd"), (2, actions[middle:], "gzip")):
        name = f"{version}.checkpoint.{part:010}.{2:010}.parquet"
        pq.write_table(rows, os.path.join(log, name), compression=codec)
    os.remove(whole)
    for commit in glob.glob(os.path.join(log, "*.json")):
        if os.path.basename(commit)[:20] <= version:
            os.remove(commit)
    with open(os.path.join(log, "_last_checkpoint"), "w") as file:
        json.dump({"version": int(version), "size": actions.num_rows, "parts": 2}, file)


def typed(table):
    """Every type, its extremes and NULLs."""
    instant = dt.datetime(2024, 2, 29, 23, 59, 59, 999999)
    columns = {
        "byte": pa.array([-128, 127, None], pa.int8()),
        "short": pa.array([-32768, 32767, None], pa.int16()),
        "integer": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "long": pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
        "float": pa.array([0.1, float("nan"), None], pa.float32()),
        "double": pa.array([-0.0, float("inf"), None], pa.float64()),
        "flag": pa.array([True, False, None]),
        "text": pa.array(["", "Zürich 💥 " * 9, None]),
        "bytes": pa.array([b"\x00\xff", b"", None]),
        "day": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
        "instant": pa.array([instant.replace(tzinfo=UTC), dt.datetime(1, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "local": pa.array([instant, dt.datetime(1969, 12, 31, 23, 59, 59, 1), None], pa.timestamp("us")),
        "small": pa.array([decimal.Decimal("-99.99"), decimal.Decimal("0.01"), None], pa.decimal128(4, 2)),
        "large": pa.array([decimal.Decimal("9" * 38), decimal.Decimal("-1"), None], pa.decimal128(38, 0)),
        "list": pa.array([[1, None], [], None], pa.list_(pa.int64())),
        "map": pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"a": 1, "b": {"c": ["x"]}}, {"a": None, "b": None}, None], pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.list_(pa.string()))]))])),
    }
    write_deltalake(table, pa.table(columns))


def partitioned(table):
    """Partition values of every type, with NULLs and characters that paths escape."""
    instant = dt.datetime(2024, 2, 29, 23, 59, 59, 999999)
    columns = {
        "row": [1, 2, 3],
        "i": pa.array([-5, None, 7], pa.int32()),
        "l": pa.array([2**63 - 1, None, -(2**63)], pa.int64()),
        "d": pa.array([0.1, None, -2.5e-9], pa.float64()),
        "b": pa.array([True, None, False]),
        "t": pa.array(["a/b=c %41 ü", None, "it's"]),
        "day": pa.array([dt.date(1969, 12, 31), None, dt.date(2024, 2, 29)]),
        "at": pa.array([instant.replace(tzinfo=UTC), None, dt.datetime(1970, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        "local": pa.array([instant, None, dt.datetime(1969, 1, 1)], pa.timestamp("us")),
        "amount": pa.array([decimal.Decimal("12.30"), None, decimal.Decimal("0.05")], pa.decimal128(10, 2)),
    }
    write_deltalake(table, pa.table(columns), partition_by=[name for name in columns if name != "row"])


def numbers(start, count):
    ids = list(range(start, start + count))
    return pa.table({"id": pa.array(ids), "text": [f"t{i % 7}" for i in ids]})


def vectors(table):
    """Deletion vectors in files and inline, replaced, and of all rows; files of several row groups."""
    schema = schema_of(field("id", "long"), field("text", "string"))
    a = write_rows(table, "a.parquet", numbers(0, 300), row_group_size=100)
    b = write_rows(table, "b.parquet", numbers(300, 300), row_group_size=100)
    c = write_rows(table, "c.parquet", numbers(600, 50))
    d = write_rows(table, "d.parquet", numbers(650, 20))
    e = write_rows(table, "e.parquet", numbers(1000, 3000), row_group_size=1000)
    write_commit(table, 0, [protocol("deletionVectors"), metadata(schema), a, b, c, d, e])
    name = uuid.UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")
    first, of_d, of_e = stored_vectors(table, [range(0, 300, 3), range(20), range(2900)], prefix="ab", name=name)
    b2 = with_vector(b, inline_vector([0, 99, 100, 299]))
    a2 = with_vector(a, first)
    write_commit(table, 1, [removed(a), a2, removed(b), b2, removed(d), with_vector(d, of_d), removed(e), with_vector(e, of_e)])
    name = uuid.UUID("0c6cbaaf-5e04-4c9d-8959-1088814f58ef")
    (second,) = stored_vectors(table, [[*range(0, 300, 3), *range(100, 200)]], runs=True, name=name)
    write_commit(table, 2, [with_vector(a, second), removed(a2)])


def mapped(table, mode):
    """Columns renamed, dropped and added under column mapping, nested ones too; a partition column among them."""
    ids = mode == "id"
    inner = [("p-city", pa.string(), 12), ("p-zip", pa.int64(), 13), ("p-gone", pa.int64(), 14)]
    with_id = lambda name, type_, id_: pa.field(name, type_, metadata={"PARQUET:field_id": str(id_)} if ids else None)
    place = pa.struct([with_id(*one) for one in inner])
    arrow = pa.schema([with_id("p-id", pa.int64(), 10), with_id("p-place", place, 11), with_id("p-dropped", pa.string(), 15)])
    rows = lambda start: pa.table(
        [
            pa.array(range(start, start + 4)),
            pa.array([{"p-city": f"c{i}", "p-zip": i, "p-gone": 0} for i in range(3)] + [None], place),
            pa.array(["x"] * 4),
        ],
        schema=arrow,
    )
    fields = schema_of(
        field("Renamed Id", "long", 10, "p-id"),
        field("place, new", schema_of(field("zip", "long", 13, "p-zip"), field("town", "string", 12, "p-city"), field("added", "long", 20, "p-added")), 11, "p-place"),
        field("part", "string", 16, "p-part"),
        field("later", "double", 21, "p-later"),
    )
    configuration = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "21"}
    actions = [protocol("columnMapping"), metadata(fields, ["part"], **configuration)]
    for start, part in ((0, "one"), (4, None)):
        added = write_rows(table, f"f{start}.parquet", rows(start))
        added["add"]["partitionValues"] = {"p-part": part}
        added["add"]["stats"] = json.dumps({"numRecords": 4, "minValues": {"p-id": start}, "maxValues": {"p-id": start + 3}, "nullCount": {"p-id": 0}})
        actions.append(added)
    write_commit(table, 0, actions)


def checkpointed(table, extension):
    """A checkpoint of version 2 with sidecars, and a commit after it."""
    schema = schema_of(field("id", "long"), field("text", "string"))
    files = [write_rows(table, f"f{i}.parquet", numbers(i * 10, 10)) for i in range(4)]
    files[0] = with_vector(files[0], inline_vector([1, 2]))
    head = [protocol("deletionVectors", "v2Checkpoint"), metadata(schema)]
    sidecars = []
    for index in (0, 2):
        name = f"00000000-0000-4000-8000-00000000000{index}.parquet"
        path = log_path(table, f"_sidecars/{name}")
        write_actions(path, files[index : index + 2], ["add", "remove"])
        sidecars.append({"sidecar": {"path": name, "sizeInBytes": os.path.getsize(path), "modificationTime": 1700000000000}})
    actions = [{"checkpointMetadata": {"version": 3}}, *head, *sidecars]
    path = log_path(table, f"{3:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.{extension}")
    if extension == "json":
        with open(path, "w") as file:
            file.writelines(json.dumps(action) + "\n" for action in actions)
    else:
        write_actions(path, actions, ["protocol", "metaData", "sidecar", "checkpointMetadata", "add", "remove"])
    write_commit(table, 3, [{"commitInfo": {"timestamp": 1700000000000}}])
    write_commit(table, 4, [removed(files[1])])


def widened(table):
    """Columns whose types were widened after the first file."""
    changes = lambda from_, to: {"delta.typeChanges": [{"fromType": from_, "toType": to}]}
    schema = schema_of(
        field("i", "long", **changes("byte", "long")),
        field("f", "double", **changes("float", "double")),
        field("d", "decimal(20,2)", **changes("decimal(5,2)", "decimal(20,2)")),
        field("day", "timestamp_ntz", **changes("date", "timestamp_ntz")),
    )
    old = pa.table({"i": pa.array([1, -7], pa.int8()), "f": pa.array([0.1, 2.5], pa.float32()), "d": pa.array([decimal.Decimal("1.25"), None], pa.decimal128(5, 2)), "day": [dt.date(2024, 2, 29), None]})
    new = pa.table({"i": [2**62], "f": [0.1], "d": pa.array([decimal.Decimal("123456789012345678.25")], pa.decimal128(20, 2)), "day": pa.array([dt.datetime(2024, 1, 1, 12)], pa.timestamp("us"))})
    first = write_rows(table, "old.parquet", old)
    first["add"]["stats"] = json.dumps({"numRecords": 2, "minValues": {"i": -7, "f": 0.1}, "maxValues": {"i": 1, "f": 2.5}, "nullCount": {"i": 0}})
    write_commit(table, 0, [protocol("typeWidening", "timestampNtz"), metadata(schema, **{"delta.enableTypeWidening": "true"}), first, write_rows(table, "new.parquet", new)])


TABLES = {
    "grown": grown,
    "cleaned": cleaned,
    "typed": typed,
    "partitioned": partitioned,
    "vectors": vectors,
    "mapped-name": lambda table: mapped(table, "name"),
    "mapped-id": lambda table: mapped(table, "id"),
    "checkpoint-json": lambda table: checkpointed(table, "json"),
    "checkpoint-parquet": lambda table: checkpointed(table, "parquet"),
    "widened": widened,
}


def second_reader():
    """DuckDB with its Delta extension, from the package of that name."""
    package = os.path.dirname(importlib.util.find_spec("duckdb_extension_delta").origin)
    (extension,) = glob.glob(os.path.join(package, "extensions", "*", "delta.duckdb_extension"))
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension}'")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def rows_of_duckdb(connection, table):
    query = f"SELECT to_json(whole_row)::VARCHAR FROM delta_scan('{table}') whole_row ORDER BY 1"
    return [row for (row,) in connection.execute(query).fetchall()]


def rows_of_delta_rs(connection, table, version=None):
    opened = DeltaTable(table, version=version)
    whole = pa.table(QueryBuilder().register("t", opened).execute("SELECT * FROM t").read_all())
    query = "SELECT to_json(whole_row)::VARCHAR FROM whole whole_row ORDER BY 1"
    return [row for (row,) in connection.execute(query).fetchall()]


def expected_rows(connection, name, table):
    """Both readers must agree. One does not widen types, the other has NULL in partition columns that are mapped."""
    if name == "widened":
        return rows_of_duckdb(connection, table)
    rows = rows_of_delta_rs(connection, table)
    if not name.startswith("mapped"):
        assert rows == rows_of_duckdb(connection, table), name
    return rows


def main(folder):
    connection = second_reader()
    for name, make in TABLES.items():
        table = os.path.join(folder, name)
        shutil.rmtree(table, ignore_errors=True)
        make(table)
        with open(os.path.join(table, "expected.ndjson"), "w") as file:
            file.writelines(row + "\n" for row in expected_rows(connection, name, table))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))

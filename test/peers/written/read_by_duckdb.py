"""The tables of the matrix, read and pruned by DuckDB's own Iceberg extension.

Its signed extensions come from PyPI's wheels and are loaded by path: nothing is downloaded when they are.
"""

import importlib.util
import json
from pathlib import Path

import duckdb
import pyarrow as pa

from checks import Checks
from read_tables_support import plain_uuids
from reader_checks import read_table
from target import target_from_arguments
from written_table import WrittenTable, quoted, read_cases

target = target_from_arguments()
checks = Checks()
connection = duckdb.connect()


class DuckdbTable:
    def __init__(self, case: WrittenTable) -> None:
        self.case = case
        self.metadata = f"'{case.metadata}'"

    def rows(self) -> pa.Table:
        return fetch(f"SELECT * FROM iceberg_scan({self.metadata})")

    def oldest_count(self) -> int:
        oldest = value_of(f"SELECT arg_min(snapshot_id, timestamp_ms) FROM iceberg_snapshots({self.metadata})")
        return value_of(f"SELECT count(*) FROM iceberg_scan({self.metadata}, snapshot_from_id = {oldest})")

    def files(self) -> int:
        return value_of(f"SELECT count(*) FROM iceberg_metadata({self.metadata})")

    def wanted(self) -> tuple[pa.Table, int]:
        sql = f"SELECT * FROM iceberg_scan({self.metadata}) WHERE {quoted(self.case.column)} = {self.case.wanted}"
        plan = connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {sql}").fetchone()[1]
        return fetch(sql), files_read(json.loads(plan))


def files_read(plan: dict) -> int:
    """What the profile says of the scans below; nothing where no file is left."""
    return int(plan["extra_info"].get("Total Files Read", 0)) + sum(map(files_read, plan["children"]))


def fetch(sql: str) -> pa.Table:
    return plain_uuids(connection.execute(sql).to_arrow_table())


def value_of(sql: str) -> int:
    return connection.execute(sql).fetchone()[0]


# Each needs those before it.
for name in ("httpfs", "avro", "iceberg"):
    package = Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
    connection.execute(f"LOAD '{package}/extensions/v{duckdb.__version__}/{name}.duckdb_extension'")
for each in read_cases(target):
    checks.add(each.name, lambda case=each: read_table(target, case, "duckdb", DuckdbTable(case)))
checks.run()

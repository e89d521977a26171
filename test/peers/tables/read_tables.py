"""The tables that pyiceberg wrote, read by the service through ADBC, must equal pyiceberg's own scans."""

import re
import warnings

import adbc_driver_flightsql.dbapi as adbc
import duckdb
import pyarrow as pa
from pyiceberg.table import Table

from checks import Checks, expect
from equality import difference
from read_tables_support import plain_uuids
from table_case import Filter, TableCase, open_catalog
from target import target_from_arguments
from write_tables import ALL_TABLES

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")
catalog = open_catalog(target.tables)
connection = adbc.connect(
    target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
)


def fetch(sql: str) -> pa.Table:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        table = cursor.fetch_arrow_table()
        table.validate(full=True)
        return table


def quoted(case: TableCase) -> str:
    return f'lake.peers."{case.name}"'


def whole_table(case: TableCase):
    def check():
        expected = catalog.load_table(case.identifier).scan().to_arrow()
        expect(difference(plain_uuids(expected), plain_uuids(fetch(f"select * from {quoted(case)}"))), None)
        count = fetch(f"select count(*) from {quoted(case)}").column(0)[0].as_py()
        expect(count, expected.num_rows, "count(*)")
        return f"{expected.num_rows} rows"

    return check


def each_column_alone(case: TableCase):
    """Projection reads other chunks of the files than `select *` does."""

    def check():
        expected = plain_uuids(catalog.load_table(case.identifier).scan().to_arrow())
        for name in expected.column_names:
            escaped = name.replace('"', '""')
            actual = plain_uuids(fetch(f'select "{escaped}" from {quoted(case)}'))
            expect(difference(expected.select([name]), actual), None, name)

    return check


def filtered(case: TableCase, condition: Filter):
    def check():
        table = catalog.load_table(case.identifier)
        expected = wanted_rows(table, condition)
        actual = fetch(f"select * from {quoted(case)} where {condition.text}")
        expect(difference(plain_uuids(expected), plain_uuids(actual)), None)
        read = what_is_read(case, condition)
        if condition.prunes and expected.num_rows < table.scan().to_arrow().num_rows:
            expect(read.is_pruned, True, f"pruned; {read.text}")
        return f"{expected.num_rows} rows; {read.text}"

    return check


def wanted_rows(table: Table, condition: Filter) -> pa.Table:
    if condition.by == "pyiceberg":
        return table.scan(row_filter=condition.text).to_arrow()
    with duckdb.connect() as engine:
        if condition.by == "files":
            files = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
            return engine.sql(f"select * from read_parquet({files!r}) where {condition.text}").fetch_arrow_table()
        rows = plain_uuids(table.scan().to_arrow())
        # Copied into a table first: over Arrow data DuckDB leaves the filter to Arrow, which orders NaN otherwise.
        engine.execute("create table wanted as select * from rows")
        return engine.sql(f"select * from wanted where {condition.text}").fetch_arrow_table()


class what_is_read:
    """The counts that EXPLAIN shows for a scan of one table."""

    def __init__(self, case: TableCase, condition: Filter) -> None:
        plan = fetch(f"explain select * from {quoted(case)} where {condition.text}")
        self.lines = "\n".join(plan.column(0).to_pylist())
        files, file_total = self._counts("files")
        groups, group_total = self._counts("row groups")
        self.is_pruned = files < file_total or groups < group_total
        self.text = f"{files}/{file_total} files, {groups}/{group_total} row groups"

    def _counts(self, what: str) -> tuple[int, int]:
        found = re.search(rf"{what}: (\d+) of (\d+) planned", self.lines)
        if not found:
            raise AssertionError(f"EXPLAIN does not count {what}: {self.lines}")
        return int(found[1]), int(found[2])


for each in ALL_TABLES:
    checks.add(each.name, whole_table(each))
    if each.name.startswith(("evolved_", "types_", "names_")):
        checks.add(f"{each.name}, column by column", each_column_alone(each))
    for one in each.filters:
        checks.add(f"{each.name} where {one.text}", filtered(each, one))

checks.run()
connection.close()

"""The tables of the matrix, read and pruned by pyiceberg."""

import uuid
import warnings

import pyarrow as pa
from pyiceberg.expressions import EqualTo
from pyiceberg.table import StaticTable

from checks import Checks, expect
from read_tables_support import plain_uuids
from reader_checks import read_table
from target import target_from_arguments
from written_table import WrittenTable, read_cases, read_rows

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")


class PyicebergTable:
    def __init__(self, case: WrittenTable) -> None:
        self.table = StaticTable.from_metadata(f"file://{case.metadata}")
        expect(self.table.metadata.format_version, case.version, "format version")
        self.filter = EqualTo(case.column, literal(case))

    def rows(self) -> pa.Table:
        return plain_uuids(self.table.scan().to_arrow())

    def oldest_count(self) -> int:
        return self.table.scan(snapshot_id=self.table.metadata.snapshots[0].snapshot_id).count()

    def files(self) -> int:
        return len(list(self.table.scan().plan_files()))

    def wanted(self) -> tuple[pa.Table, int]:
        scan = self.table.scan(row_filter=self.filter)
        return plain_uuids(scan.to_arrow()), len(list(scan.plan_files()))


def literal(case: WrittenTable):
    """The wanted value as pyiceberg takes it: times as text."""
    (value,) = {row[case.column] for row in flattened(read_rows(target, f"{case.group}_wanted"))}
    if case.group == "uuid":
        return uuid.UUID(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def flattened(rows: pa.Table) -> list[dict]:
    """Fields of structs as columns with dots in their names."""
    return rows.flatten().to_pylist()


for each in read_cases(target):
    checks.add(each.name, lambda case=each: read_table(target, case, "pyiceberg", PyicebergTable(case)))
checks.run()

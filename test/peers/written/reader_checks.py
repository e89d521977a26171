"""What every reader of the matrix must show: the rows, the wanted ones, and files left out; or else the fault that is named."""

from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

from checks import expect
from equality import difference
from matrix import Reader
from target import Target
from written_table import WrittenTable, read_rows


class OpenTable(Protocol):
    """A table of the matrix as a reader has it."""

    def rows(self) -> pa.Table: ...

    def oldest_count(self) -> int:
        """Rows of the first snapshot."""

    def files(self) -> int: ...

    def wanted(self) -> tuple[pa.Table, int]:
        """The rows with the wanted value, and how many files are left for them."""


def read_table(target: Target, case: WrittenTable, reader: Reader, table: OpenTable) -> str:
    fault = case.fault(reader)
    known = f"{fault.what}: {fault.reason}" if fault else ""
    what = fault.what if fault else None
    if what == "misreads":
        expect(difference_or_error(target, case, table) is not None, True, known)
        return known
    rows = table.rows()
    expect(difference(read_rows(target, case.group), rows), None)
    expect(table.oldest_count(), case.first_rows, "rows of the oldest snapshot")
    if what == "fails":
        outcome = error_of(table.wanted)
        expect(fault.text in outcome, True, f"{known}: {outcome}")
        return f"{rows.num_rows} rows; {known}"
    found, left = table.wanted()
    files = table.files()
    wrong = difference(read_rows(target, f"{case.group}_wanted"), found)
    if what == "wrong rows":
        expect(wrong is not None, True, known)
        return f"{rows.num_rows} rows; {known}"
    expect(wrong, None, f"{case.column} = {case.wanted}")
    if what == "prunes not":
        expect(left, files, known)
        return f"{rows.num_rows} rows; {known}"
    expect(0 < left < files, True, f"pruned: {left} of {files} files left")
    return f"{rows.num_rows} rows, {left} of {files} files for one value"


def difference_or_error(target: Target, case: WrittenTable, table: OpenTable) -> str | None:
    try:
        return difference(read_rows(target, case.group), table.rows())
    except Exception as error:
        return str(error)


def error_of(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"

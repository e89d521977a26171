"""The folder in which the tables' writer tells the readers what there is to read."""

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from matrix import Fault
from target import Target


@dataclass(frozen=True)
class WrittenTable:
    name: str
    #: Path of the newest metadata file.
    metadata: str
    version: int
    #: Its rows, and those that have the wanted value, are `<group>.arrow` and `<group>_wanted.arrow`; both are in `<group>.json`.
    group: str
    column: str
    wanted: str
    #: How many rows the oldest snapshot has: those of the first INSERT.
    first_rows: int
    faults: tuple[Fault, ...]

    def fault(self, reader: str) -> Fault | None:
        return next((each for each in self.faults if each.reader == reader), None)


def written_folder(target: Target) -> Path:
    return Path(target.tables) / "written"


def read_cases(target: Target) -> list[WrittenTable]:
    cases = json.loads((written_folder(target) / "cases.json").read_text())
    return [WrittenTable(**{**case, "faults": tuple(Fault(**each) for each in case["faults"])}) for case in cases]


def read_rows(target: Target, name: str) -> pa.Table:
    with pa.OSFile(str(written_folder(target) / f"{name}.arrow")) as file:
        return pa.ipc.open_file(file).read_all()


def quoted(path: str) -> str:
    """SQL of a column, or of a field within one."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in path.split("."))


def write_rows(target: Target, name: str, rows: pa.Table) -> None:
    with pa.OSFile(str(written_folder(target) / f"{name}.arrow"), "wb") as file, pa.ipc.new_file(file, rows.schema) as out:
        out.write_table(rows)

"""TPC-H as Iceberg tables written by pyiceberg's SqlCatalog. Usage: tpch_data.py FOLDER SCALE; prints nothing when done before.

Layout: `<folder>/tpch-sf<scale>/warehouse/tpch/<table>`, format version 2. orders and lineitem grow by several appends, one
per part that tpchgen-cli makes, so that planning has snapshots and manifests to read. Kept between runs; two loaders
at once wait for one another, and a load that was interrupted is made again.
"""

import fcntl
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog

NAMESPACE = "tpch"
SMALL_TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp"]
TABLES = [*SMALL_TABLES, "orders", "lineitem"]


def tpch_folder(cache: str, scale: float) -> Path:
    return Path(cache) / f"tpch-sf{scale:g}"


def load_tpch(cache: str, scale: float) -> Path:
    """Makes the tables unless they are there; answers their folder."""
    folder = tpch_folder(cache, scale)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f"{folder.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            write_tables(folder, scale)
            (folder / "complete").touch()
    return folder


def open_tpch(folder: Path) -> SqlCatalog:
    return SqlCatalog(NAMESPACE, uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")


def data_files(folder: Path) -> dict[str, list[str]]:
    """The Parquet files of each table, as its current snapshot names them."""
    catalog = open_tpch(folder)
    return {
        name: [task.file.file_path.removeprefix("file://") for task in catalog.load_table(f"{NAMESPACE}.{name}").scan().plan_files()]
        for name in TABLES
    }


def write_tables(folder: Path, scale: float) -> None:
    source = folder / "generated"
    source.mkdir(parents=True)
    (folder / "warehouse").mkdir()
    generate(source, scale, ",".join(SMALL_TABLES))
    generate(source, scale, "orders", parts=max(2, math.ceil(4 * scale)))
    generate(source, scale, "lineitem", parts=max(4, math.ceil(16 * scale)))
    catalog = open_tpch(folder)
    catalog.create_namespace(NAMESPACE)
    for name in TABLES:
        table = None
        for part in parts_of(source, name):
            rows = plain_strings(pq.read_table(part))
            if table is None:
                table = catalog.create_table(f"{NAMESPACE}.{name}", rows.schema, properties={"format-version": "2"})
            table.append(rows)
        print(f"{NAMESPACE}.{name} is loaded", flush=True)
    shutil.rmtree(source)


def generate(folder: Path, scale: float, tables: str, parts: int | None = None) -> None:
    command = [Path(sys.executable).with_name("tpchgen-cli"), "parquet", "-s", f"{scale:g}", f"--tables={tables}"]
    command += [f"--output-dir={folder}"] + ([f"--parts={parts}"] if parts else [])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def parts_of(source: Path, name: str) -> list[Path]:
    """`<name>.parquet`, or `<name>/<name>.<part>.parquet` in the order of the parts."""
    if (source / name).is_dir():
        return sorted((source / name).glob("*.parquet"), key=lambda path: int(path.suffixes[-2][1:]))
    return [source / f"{name}.parquet"]


def plain_strings(table: pa.Table) -> pa.Table:
    """Iceberg strings: tpchgen-cli writes string views and columns that may not be NULL."""

    def plain(kind: pa.DataType) -> pa.DataType:
        return pa.string() if pa.types.is_string_view(kind) or pa.types.is_large_string(kind) else kind

    return table.cast(pa.schema([pa.field(field.name, plain(field.type)) for field in table.schema]))


if __name__ == "__main__":
    load_tpch(sys.argv[1], float(sys.argv[2]))

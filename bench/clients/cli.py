"""The command line: from its start to its end, and reading 1 GB of Parquet against the engine alone."""

import os
import subprocess
import tempfile
from pathlib import Path

import duckdb

import contestants
from measuring import answer, arguments, interleaved, progress, timed

WARM_UP_RUNS = 1
COPIES = 4
#: Every column is read, and little is answered.
READ_ALL = """select count(*), sum(l_orderkey), sum(l_partkey), sum(l_suppkey), sum(l_linenumber), sum(l_quantity),
  sum(l_extendedprice), sum(l_discount), sum(l_tax), max(l_returnflag), max(l_linestatus), max(l_shipdate),
  max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), max(l_shipmode), max(l_comment) from '{file}'"""


def main() -> None:
    given = arguments()
    file = large_file(Path(given["folder"]))
    with tempfile.TemporaryDirectory(prefix="svc-bench-cli-") as home:
        samples = measure(given, file, home)
    answer({"samples": samples, "bytes": file.stat().st_size})


def large_file(folder: Path) -> Path:
    file = folder / f"lineitem-{COPIES}.parquet"
    if not file.exists():
        aside = file.with_suffix(".tmp")
        contestants.raw_duckdb(folder).query(
            f"copy (select l.* from lineitem l, range({COPIES})) to '{aside}' (format parquet, compression snappy)"
        )
        aside.rename(file)
    return file


def measure(given: dict, file: Path, home: str) -> dict[str, list[float]]:
    def svc(sql: str) -> None:
        command = [given["node"], given["svc"], "sql", "--format", "csv", "-c", sql]
        subprocess.run(command, cwd=home, env={"PATH": os.environ["PATH"], "HOME": home}, check=True, stdout=subprocess.DEVNULL)

    def engine() -> None:
        duckdb.connect().execute(READ_ALL.format(file=file)).fetchall()

    actions = {
        "select 1": lambda: svc("select 1"),
        "count of 3 M flights": lambda: svc("select count(*) from samples.flights where delay > 60"),
        "1 GB of Parquet, svc sql": lambda: svc(READ_ALL.format(file=file)),
        "1 GB of Parquet, engine": engine,
    }
    # The first session makes the sample table.
    svc("select count(*) from samples.flights")
    samples: dict[str, list[float]] = {name: [] for name in actions}
    for run, name in interleaved(list(samples), WARM_UP_RUNS + given["runs"]):
        seconds = timed(actions[name])
        if run >= WARM_UP_RUNS:
            samples[name].append(seconds)
        progress(f"run {run + 1}: {name} {seconds:.2f} s")
    return samples


main()

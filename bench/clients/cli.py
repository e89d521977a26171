"""The command line: from its start to its first answer, and reading 1 GB of Parquet against the engine alone."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb

from measuring import answer, arguments, interleaved, progress, timed
from tpch_data import data_files

WARM_UP_RUNS = 1
#: Of lineitem, one behind the other: 1 GB in all.
COPIES = 5
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
        source = f"read_parquet({data_files(folder)['lineitem'] * COPIES!r})"
        duckdb.execute(f"copy (from {source}) to '{aside}' (format parquet, compression snappy)")
        aside.rename(file)
    return file


def measure(given: dict, file: Path, home: str) -> dict[str, list[float]]:
    environment = {"PATH": os.environ["PATH"], "HOME": home}

    def svc(*statements: str) -> list[float]:
        """Seconds from the start of the process to each line of its output, and to its end."""
        command = [given["node"], given["svc"], "sql", "--format", "ndjson"]
        began = time.perf_counter()
        times = []
        with subprocess.Popen(
            [*command, *(part for sql in statements for part in ("-c", sql))],
            cwd=home,
            env=environment,
            stdout=subprocess.PIPE,
        ) as process:
            for _line in process.stdout:
                times.append(time.perf_counter() - began)
        if process.returncode != 0:
            raise RuntimeError(f"svc sql ended with {process.returncode}")
        return [*times, time.perf_counter() - began]

    read_all = READ_ALL.format(file=file)

    def second_of_two() -> float:
        first, second, _end = svc(read_all, read_all)
        return second - first

    actions = {
        "select 1": lambda: svc("select 1")[0],
        "count of 3 M flights": lambda: svc("select count(*) from samples.flights where delay > 60")[-1],
        "1 GB of Parquet, svc sql": second_of_two,
        "1 GB of Parquet, svc sql from start to end": lambda: svc(read_all)[-1],
        "1 GB of Parquet, engine": lambda: timed(lambda: duckdb.connect().execute(read_all).fetchall()),
    }
    # The first session makes the sample table.
    svc("select count(*) from samples.flights")
    samples: dict[str, list[float]] = {name: [] for name in actions}
    for run, name in interleaved(list(samples), WARM_UP_RUNS + given["runs"]):
        seconds = actions[name]()
        if run >= WARM_UP_RUNS:
            samples[name].append(seconds)
        progress(f"run {run + 1}: {name} {seconds:.2f} s")
    return samples


main()

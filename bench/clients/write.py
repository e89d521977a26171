"""CREATE TABLE AS of lineitem through the service, against DuckDB's own COPY of the same rows with the same settings."""

import shutil
import uuid
from pathlib import Path

import contestants
from measuring import answer, arguments, interleaved, progress, timed

WARM_UP_RUNS = 1
SETTINGS = "FORMAT parquet, CODEC zstd, ROW_GROUP_SIZE 122880, FILE_SIZE_BYTES '256MB'"


def main() -> None:
    given = arguments()
    folder = Path(given["folder"])
    name = f"bench_{uuid.uuid4().hex[:8]}"
    service = contestants.service(given["service"], "tpch")
    engine = contestants.raw_duckdb(folder)
    # On the disk of the service's own tables.
    aside = folder / name
    service.query(f"create schema {name}")

    def by_service() -> None:
        service.query(f"create table {name}.lineitem as select * from lineitem")

    def by_duckdb() -> None:
        engine.query(f"copy (select * from lineitem) to '{aside}' ({SETTINGS})")

    samples: dict[str, list[float]] = {"svc": [], "duckdb": []}
    try:
        for run, system in interleaved(list(samples), WARM_UP_RUNS + given["runs"]):
            seconds = timed(by_service if system == "svc" else by_duckdb)
            if run >= WARM_UP_RUNS:
                samples[system].append(seconds)
            progress(f"run {run + 1}: {system} {seconds:.2f} s")
            if system == "svc":
                service.query(f"drop table {name}.lineitem purge")
            else:
                shutil.rmtree(aside, ignore_errors=True)
    finally:
        service.query(f"drop table if exists {name}.lineitem purge")
        service.query(f"drop schema if exists {name}")
        shutil.rmtree(aside, ignore_errors=True)
    answer({"samples": samples})


main()

"""The 22 TPC-H statements over a REST catalog and MinIO, with credentials for one table at a time: our service and DuckDB's
own Iceberg extension on the same servers, warm and cold, and DuckDB over the same rows in local files.

`lake.py FACTS cold` is one cold run of the extension: a process of its own, timed from its first statement.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import contestants
import duckdb
from equality import difference
from measuring import answer, arguments, interleaved, progress, timed
from tpch_queries import TOTALLY_ORDERED, tpch_queries

WARM_UP_RUNS = 2

given = arguments()
lake = given["lake"]
queries = tpch_queries()


def extension_path(name: str) -> Path:
    """The wheel holds the signed extension: nothing is fetched."""
    package = Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
    return package / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"


def iceberg_extension() -> contestants.InProcess:
    connection = duckdb.connect()
    for name in ("httpfs", "avro", "iceberg"):
        connection.execute(f"load '{extension_path(name)}'")
    connection.execute(f"attach 'warehouse' as lake (type iceberg, endpoint '{lake['url']}', authorization_type 'none')")
    connection.execute("use lake.tpch")
    return contestants.InProcess("extension", connection)


def run_all(system: contestants.Contestant) -> dict[str, float]:
    return {name: timed(lambda: system.query(sql)) for name, sql in queries.items()}


def cold_runs() -> dict[str, list[float]]:
    """Total seconds, ours and the extension's in turn: each of our services has answered nothing yet and has an empty cache."""
    totals: dict[str, list[float]] = {"svc": [], "extension": []}
    for fresh in lake["cold"]:
        totals["svc"].append(sum(run_all(contestants.service(fresh, "tpch")).values()))
        cold = subprocess.run([sys.executable, __file__, sys.argv[1], "cold"], stdout=subprocess.PIPE, text=True, check=True)
        totals["extension"].append(json.loads(cold.stdout))
        progress(f"cold: svc {totals['svc'][-1]:.2f} s, extension {totals['extension'][-1]:.2f} s")
    return totals


def main() -> None:
    cold = cold_runs()
    systems = {
        "svc": contestants.service(lake["service"], "tpch"),
        "extension": iceberg_extension(),
        "duckdb": contestants.raw_duckdb(Path(given["folder"])),
    }
    wrong = {}
    for name, sql in queries.items():
        found = difference(
            systems["duckdb"].query(sql), systems["svc"].query(sql), ordered=name in TOTALLY_ORDERED, tolerance=1e-12
        )
        if found:
            wrong[name] = found
    progress(f"{len(queries) - len(wrong)} of {len(queries)} results equal DuckDB's")
    seconds: dict[str, dict[str, list[float]]] = {system: {name: [] for name in queries} for system in systems}
    for run, system in interleaved(list(systems), WARM_UP_RUNS + given["runs"]):
        for name, took in run_all(systems[system]).items():
            if run >= WARM_UP_RUNS:
                seconds[system][name].append(took)
        progress(f"run {run + 1}: {system}")
    answer({"equal": len(queries) - len(wrong), "queries": len(queries), "wrong": wrong, "seconds": seconds, "cold": cold})


if sys.argv[2:3] == ["cold"]:
    print(sum(run_all(iceberg_extension()).values()))
else:
    main()

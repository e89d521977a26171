"""Bar 1: the 22 TPC-H statements. Equality with DuckDB, and the total warm time of each contestant, in interleaved runs."""

from pathlib import Path

import contestants
from equality import difference
from measuring import answer, arguments, interleaved, progress, timed
from tpch_queries import TOTALLY_ORDERED, tpch_queries

WARM_UP_RUNS = 2


def main() -> None:
    given = arguments()
    folder = Path(given["folder"])
    systems = {
        "svc": contestants.service(given["service"], "tpch"),
        "sail": contestants.sail(given["sail"]["port"], folder),
        "duckdb": contestants.raw_duckdb(folder),
    }
    queries = tpch_queries()
    wrong = {name: found for name, sql in queries.items() if (found := compared(systems, name, sql))}
    progress(f"{len(queries) - len(wrong)} of {len(queries)} results equal DuckDB's")
    seconds: dict[str, dict[str, list[float]]] = {system: {name: [] for name in queries} for system in systems}
    for run, system in interleaved(list(systems), WARM_UP_RUNS + given["runs"]):
        for name, sql in queries.items():
            if name in wrong and system == "svc":
                continue
            took = timed(lambda: systems[system].query(sql))
            if run >= WARM_UP_RUNS:
                seconds[system][name].append(took)
        progress(f"run {run + 1}: {system}")
    answer({"equal": len(queries) - len(wrong), "queries": len(queries), "wrong": wrong, "seconds": seconds})


def compared(systems: dict, name: str, sql: str) -> str | None:
    """What is wrong with our answer, or None."""
    try:
        actual = systems["svc"].query(sql)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]
    return difference(systems["duckdb"].query(sql), actual, ordered=name in TOTALLY_ORDERED, tolerance=1e-12)


main()

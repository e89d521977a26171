"""TPC-H for whom policies hide rows and mask columns, against the same filters and masks in the text of the statements, written
by a user from whom nothing is hidden: one service, one engine, the same rows.

The totals of three kinds of policies (bench/tpch/policies.json), in interleaved runs.
"""

from pathlib import Path

import contestants
from equality import difference
from measuring import answer, arguments, interleaved, progress, timed
from process_tree import cpu_seconds
from tpch_policies import POLICIES, handwritten
from tpch_queries import TOTALLY_ORDERED, tpch_queries

WARM_UP_RUNS = 2


def main() -> None:
    given = arguments()
    facts = given["policies"]
    engine = contestants.raw_duckdb(Path(given["folder"]))
    whole = contestants.service(facts, "tpch")
    answer({kind: measured(kind, given, engine, whole) for kind in POLICIES})


def measured(kind: str, given: dict, engine: contestants.InProcess, whole: contestants.OverAdbc) -> dict:
    facts = given["policies"]
    guarded = contestants.bearer_service(contestants.uri_of(facts), facts["tokens"][kind], "tpch")
    queries = tpch_queries()
    asked = {
        "policies": {name: (guarded, sql) for name, sql in queries.items()},
        "by hand": {name: (whole, handwritten(sql, kind)) for name, sql in queries.items()},
    }
    wrong = {}
    for name, (system, sql) in asked["policies"].items():
        expected = engine.query(handwritten(sql, kind))
        found = difference(expected, system.query(sql), ordered=name in TOTALLY_ORDERED, tolerance=1e-12)
        if found:
            wrong[name] = found
    progress(f"{kind}: {len(queries) - len(wrong)} of {len(queries)} results equal DuckDB's")
    seconds: dict[str, dict[str, list[float]]] = {way: {name: [] for name in queries} for way in asked}
    processor: dict[str, list[float]] = {way: [] for way in asked}
    for run, way in interleaved(list(asked), WARM_UP_RUNS + given["runs"]):
        before = cpu_seconds(facts["pid"])
        took = {name: timed(lambda: system.query(sql)) for name, (system, sql) in asked[way].items()}
        if run >= WARM_UP_RUNS:
            processor[way].append(cpu_seconds(facts["pid"]) - before)
            for name in queries:
                seconds[way][name].append(took[name])
        progress(f"{kind}, run {run + 1}: {way} {sum(took.values()):.2f} s")
    guarded.connection.close()
    return {"equal": len(queries) - len(wrong), "queries": len(queries), "wrong": wrong, "seconds": seconds, "cpu": processor}


main()

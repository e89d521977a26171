"""Fragments on workers: TPC-H through one worker and on the coordinator's own hosts, and a scan that waits for storage, by 1, 2
and 4 workers."""

import contestants
from equality import difference
from measuring import answer, arguments, interleaved, progress, timed
from process_tree import cpu_seconds
from tpch_queries import TOTALLY_ORDERED, tpch_queries

#: After the run in which the rows are compared.
WARM_UP_RUNS = 1
SCAN_RUNS = 3
#: Each month is a file and a split or two of its own: 20 of them are read.
SCAN = """
select count(*), sum(l_extendedprice), sum(l_partkey), sum(l_orderkey) from lineitem_bymonth
where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-09-01'
"""

given = arguments()
fragments = given["fragments"]
queries = tpch_queries()


def connect(facts: dict, execution: str) -> contestants.OverAdbc:
    system = contestants.service(facts, "tpch")
    system.query(f"set svc.execution = {execution}")
    return system


def tpch() -> dict:
    facts = fragments["tpch"]
    systems = {execution: connect(facts, execution) for execution in ("local", "workers")}
    pids = (facts["pid"], fragments["worker_pid"])
    wrong = {}
    for name, sql in queries.items():
        rows = {execution: system.query(sql) for execution, system in systems.items()}
        found = difference(rows["local"], rows["workers"], ordered=name in TOTALLY_ORDERED, tolerance=1e-12)
        if found:
            wrong[name] = found
    progress(f"{len(queries) - len(wrong)} of {len(queries)} results through the worker equal the coordinator's own")
    seconds: dict[str, dict[str, list[float]]] = {system: {name: [] for name in queries} for system in systems}
    processor: dict[str, list[float]] = {system: [] for system in systems}
    for run, execution in interleaved(list(systems), WARM_UP_RUNS + given["runs"]):
        before = sum(cpu_seconds(pid) for pid in pids)
        took = {name: timed(lambda: systems[execution].query(sql)) for name, sql in queries.items()}
        if run >= WARM_UP_RUNS:
            processor[execution].append(sum(cpu_seconds(pid) for pid in pids) - before)
            for name in queries:
                seconds[execution][name].append(took[name])
        progress(f"run {run + 1}: {execution} {sum(took.values()):.2f} s")
    return {"equal": len(queries) - len(wrong), "queries": len(queries), "wrong": wrong, "seconds": seconds, "cpu": processor}


def scaling() -> dict:
    systems = {count: connect(facts, "workers") for count, facts in fragments["slow"].items()}
    expected = connect(fragments["slow"]["1"], "local").query(SCAN)
    seconds: dict[str, list[float]] = {count: [] for count in systems}
    processor: dict[str, list[float]] = {count: [] for count in systems}
    for run, count in interleaved(list(systems), 1 + SCAN_RUNS):
        pids = [fragments["slow"][count]["pid"], *fragments["slow_pids"]]
        before = sum(cpu_seconds(pid) for pid in pids)
        rows = []
        took = timed(lambda: rows.append(systems[count].query(SCAN)))
        if difference(expected, rows[0], ordered=False, tolerance=0):
            raise AssertionError(f"{count} workers answer other rows")
        if run >= 1:
            seconds[count].append(took)
            processor[count].append(sum(cpu_seconds(pid) for pid in pids) - before)
        progress(f"scan {run + 1}: {count} workers {took:.2f} s")
    return {"seconds": seconds, "cpu": processor}


parts = {"scaling": scaling, "tpch": tpch}
answer({name: part() for name, part in parts.items()})

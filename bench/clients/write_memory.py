"""Memory of the server while CREATE TABLE AS writes ten times its engine's limit, in one piece and by partitions."""

import uuid

import contestants
from measuring import answer, arguments, progress, timed
from process_tree import PeakMemory, settled_bytes

#: lineitem at scale 1 is 0.92 GB as Arrow; the limit is LIMIT_MIB of bench/run.mjs.
COPIES = 3
TABLES = {
    "in one piece": "",
    "by month of l_shipdate": "partitioned by (month(l_shipdate))",
}


def main() -> None:
    given = arguments()
    ours = given["limited"]
    service = contestants.service(ours, "tpch")
    schema = f"bench_{uuid.uuid4().hex[:8]}"
    service.query(f"create schema {schema}")
    service.query("select 1")
    idle = settled_bytes(ours["pid"])
    samples: dict[str, list[dict]] = {name: [] for name in TABLES}
    try:
        for run in range(given["runs"]):
            for name, partitioning in TABLES.items():
                with PeakMemory(ours["pid"]) as peak:
                    seconds = timed(
                        lambda: service.query(
                            f"create table {schema}.t {partitioning} as select l.* from lineitem l, range({COPIES})"
                        )
                    )
                rows = service.query(f"select count(*) as n from {schema}.t")["n"][0].as_py()
                service.query(f"drop table {schema}.t purge")
                samples[name].append({"seconds": seconds, "rows": rows, "peak_bytes": peak.bytes})
                progress(f"run {run + 1}, {name}: {rows} rows in {seconds:.1f} s, {peak.bytes / 2**20:.0f} MiB")
    finally:
        service.query(f"drop table if exists {schema}.t purge")
        service.query(f"drop schema {schema}")
    answer({"idle_bytes": idle, "limit_bytes": ours["memory_limit"], "samples": samples})


main()

"""Bar 2: `select *` of lineitem, read to its end by pyarrow and ADBC; rows, bytes, seconds, and the server's CPU seconds."""

from pathlib import Path

import contestants
from measuring import answer, arguments, interleaved, progress, timed
from process_tree import cpu_seconds

WARM_UP_RUNS = 1
SQL = "select * from lineitem"


def main() -> None:
    given = arguments()
    folder = Path(given["folder"])
    ours, secured, port = given["service"], given["secured"], given["sail"]["port"]
    systems = {
        "svc adbc": (contestants.service(ours, "tpch"), ours["pid"]),
        "svc pyarrow": (contestants.service_by_pyarrow(ours, "tpch"), ours["pid"]),
        "svc adbc tls": (contestants.service(secured, "tpch"), secured["pid"]),
        "svc pyarrow tls": (contestants.service_by_pyarrow(secured, "tpch"), secured["pid"]),
        "sail adbc": (contestants.sail(port, folder), given["sail"]["pid"]),
        "sail pyarrow": (contestants.OverPyarrow("sail", f"grpc://127.0.0.1:{port}"), given["sail"]["pid"]),
        "duckdb": (contestants.raw_duckdb(folder), None),
    }
    samples: dict[str, list[dict]] = {name: [] for name in systems}
    for run, name in interleaved(list(systems), WARM_UP_RUNS + given["runs"]):
        system, pid = systems[name]
        sample = read_all(system, pid)
        if run >= WARM_UP_RUNS:
            samples[name].append(sample)
        progress(f"run {run + 1}: {name} {sample['rows'] / sample['seconds'] / 1e6:.2f} M rows/s")
    answer({"samples": samples})


def read_all(system: contestants.Contestant, pid: int | None) -> dict:
    counted = {"rows": 0, "bytes": 0}

    def read() -> None:
        for batch in system.stream(SQL):
            counted["rows"] += batch.num_rows
            counted["bytes"] += batch.nbytes

    before = cpu_seconds(pid) if pid else 0.0
    seconds = timed(read)
    cpu = cpu_seconds(pid) - before if pid else None
    return {**counted, "seconds": seconds, "cpu_seconds": cpu}


main()

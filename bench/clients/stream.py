"""Bar 2: `select *` of lineitem, read to its end by pyarrow and ADBC; rows, bytes, seconds, and the server's CPU seconds.
Sail has no TLS of its own: HAProxy stands in front of it, and its CPU seconds count."""

from pathlib import Path

import contestants
from adbc_driver_flightsql import DatabaseOptions
from measuring import answer, arguments, interleaved, progress, timed
from process_tree import cpu_seconds

WARM_UP_RUNS = 1
SQL = "select * from lineitem"


def main() -> None:
    given = arguments()
    folder = Path(given["folder"])
    ours, secured, sail = given["service"], given["secured"], given["sail"]
    plain, tls = f"grpc://127.0.0.1:{sail['port']}", f"grpc+tls://127.0.0.1:{sail['tls']['port']}"
    trusted = {DatabaseOptions.TLS_ROOT_CERTS.value: sail["tls"]["roots"]}
    behind_tls = (sail["pid"], sail["tls"]["pid"])
    systems = {
        "svc adbc": (contestants.service(ours, "tpch"), (ours["pid"],)),
        "svc pyarrow": (contestants.service_by_pyarrow(ours, "tpch"), (ours["pid"],)),
        "svc adbc tls": (contestants.service(secured, "tpch"), (secured["pid"],)),
        "svc pyarrow tls": (contestants.service_by_pyarrow(secured, "tpch"), (secured["pid"],)),
        "sail adbc": (contestants.sail(sail["port"], folder), (sail["pid"],)),
        "sail pyarrow": (contestants.OverPyarrow("sail", plain), (sail["pid"],)),
        "sail adbc tls": (contestants.OverAdbc("sail", tls, **trusted), behind_tls),
        "sail pyarrow tls": (contestants.OverPyarrow("sail", tls, tls_roots=sail["tls"]["roots"]), behind_tls),
        "duckdb": (contestants.raw_duckdb(folder), ()),
    }
    samples: dict[str, list[dict]] = {name: [] for name in systems}
    for run, name in interleaved(list(systems), WARM_UP_RUNS + given["runs"]):
        system, pids = systems[name]
        sample = read_all(system, pids)
        if run >= WARM_UP_RUNS:
            samples[name].append(sample)
        progress(f"run {run + 1}: {name} {sample['rows'] / sample['seconds'] / 1e6:.2f} M rows/s")
    answer({"samples": samples})


def read_all(system: contestants.Contestant, pids: tuple[int, ...]) -> dict:
    counted = {"rows": 0, "bytes": 0}

    def read() -> None:
        for batch in system.stream(SQL):
            counted["rows"] += batch.num_rows
            counted["bytes"] += batch.nbytes

    before = sum(map(cpu_seconds, pids))
    seconds = timed(read)
    cpu = sum(map(cpu_seconds, pids)) - before if pids else None
    return {**counted, "seconds": seconds, "cpu_seconds": cpu}


main()

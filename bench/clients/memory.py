"""Bar 3: memory of the server while one client streams lineitem and another one has stopped reading it."""

import contestants
from measuring import answer, arguments, progress
from process_tree import PeakMemory, proportional_bytes, settled_bytes

SQL = "select * from lineitem"


def main() -> None:
    given = arguments()
    ours = given["service"]
    pid = ours["pid"]
    contestants.service(ours, "tpch").query("select 1")
    idle = settled_bytes(pid)
    samples = []
    for run in range(given["runs"]):
        sample = with_a_sleeper(ours, pid)
        samples.append(sample)
        progress(f"run {run + 1}: peak {(sample['peak_bytes'] - idle) / 2**20:.0f} MiB above idle")
    answer({"idle_bytes": idle, "samples": samples})


def with_a_sleeper(ours: dict, pid: int) -> dict:
    sleeper = contestants.service_by_pyarrow(ours, "tpch")
    reader = contestants.service_by_pyarrow(ours, "tpch")
    with PeakMemory(pid) as peak:
        asleep = sleeper.stream(SQL)
        next(asleep)
        rows = sum(batch.num_rows for batch in reader.stream(SQL))
        after = proportional_bytes(pid)
        asleep.close()
    sleeper.close()
    reader.close()
    return {"peak_bytes": peak.bytes, "after_bytes": after, "rows": rows}


main()

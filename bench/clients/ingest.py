"""Bulk ingest of lineitem through ADBC, against the same Arrow appended to a table of an engine alone."""

import subprocess
import uuid
from pathlib import Path

import pyarrow as pa

import contestants
from measuring import answer, arguments, interleaved, progress, timed
from process_tree import PeakMemory, settled_bytes

WARM_UP_RUNS = 1
#: Rows of a batch, as ADBC's clients make them.
BATCH_ROWS = 65_536


def main() -> None:
    given = arguments()
    ours = given["service"]
    folder = Path(given["folder"])
    schema = f"bench_{uuid.uuid4().hex[:8]}"
    service = contestants.service(ours, "tpch")
    service.query(f"create schema {schema}")
    table = contestants.raw_duckdb(folder).query("select * from lineitem").combine_chunks()
    stream = folder / f"{schema}.arrows"
    with pa.OSFile(str(stream), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)

    def by_service() -> float:
        with service.connection.cursor() as cursor:
            reader = table.to_reader(max_chunksize=BATCH_ROWS)
            return timed(lambda: cursor.adbc_ingest("lineitem", reader, mode="create", db_schema_name=schema))

    def by_engine() -> float:
        """The program itself measures, without its start."""
        result = subprocess.run(
            [given["node"], given["engine_ingest"], str(stream)], capture_output=True, text=True, check=True
        )
        return float(result.stdout)

    idle = settled_bytes(ours["pid"])
    samples: dict[str, list[float]] = {"svc": [], "engine": []}
    peak_bytes = 0
    try:
        for run, system in interleaved(list(samples), WARM_UP_RUNS + given["runs"]):
            if system == "svc":
                with PeakMemory(ours["pid"]) as peak:
                    seconds = by_service()
                peak_bytes = max(peak_bytes, peak.bytes)
                service.query(f"drop table {schema}.lineitem purge")
            else:
                seconds = by_engine()
            if run >= WARM_UP_RUNS:
                samples[system].append(seconds)
            progress(f"run {run + 1}: {system} {seconds:.2f} s")
    finally:
        service.query(f"drop table if exists {schema}.lineitem purge")
        service.query(f"drop schema {schema}")
        stream.unlink()
    answer(
        {"samples": samples, "rows": table.num_rows, "bytes": table.nbytes, "idle_bytes": idle, "peak_bytes": peak_bytes}
    )


main()

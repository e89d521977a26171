"""Metadata calls over a catalog of 10,000 tables: GetTables with patterns, and information_schema."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.flight as flight

import contestants
from flight_sql_messages import get_tables
from measuring import answer, arguments, progress, timed
from process_tree import PeakMemory, proportional_bytes, settled_bytes

TABLES = 10_000
#: What a table of a warehouse looks like: names and types enough that its schema is not nothing.
COLUMNS = "id bigint not null, a varchar, b decimal(10, 2), c timestamptz, d date, e double, f varchar, g varchar, h boolean, i struct(x int, y varchar[])"


def main() -> None:
    given = arguments()
    ours = given["catalog"]
    client = contestants.service(ours, None)
    make_tables(client, Path(ours["warehouse"]))
    raw = contestants.service_by_pyarrow(ours, None)

    def tables(**filters) -> Callable[[], int]:
        def call() -> int:
            info = raw.client.get_flight_info(flight.FlightDescriptor.for_command(get_tables(**filters)), raw.options)
            return raw.client.do_get(info.endpoints[0].ticket, raw.options).read_all().num_rows

        return call

    def sql(text: str) -> Callable[[], int]:
        return lambda: client.query(text).num_rows

    calls = {
        "GetTables, one schema, pattern": tables(schema="many", table="t\\_0012%"),
        "GetTables, pattern": tables(table="%\\_0012_"),
        "GetTables, pattern, with schemas": tables(table="t\\_0012%", include_schema=True),
        "GetTables, all": tables(),
        "GetTables, all, with schemas": tables(include_schema=True),
        "information_schema.tables": sql("select table_name from information_schema.tables"),
        "information_schema.columns, one table": sql(
            "select column_name from information_schema.columns where table_schema = 'many' and table_name = 't_00123'"
        ),
        "information_schema.columns, all": sql("select column_name from information_schema.columns"),
    }
    idle = settled_bytes(ours["pid"])
    samples = {name: measure(name, call, ours["pid"], given["runs"]) for name, call in calls.items()}
    answer({"idle_bytes": idle, "samples": samples})


def make_tables(client: contestants.OverAdbc, warehouse: Path) -> None:
    """One by the service, the others as copies of its metadata, which has no place of its own yet."""
    client.query("create schema many")
    client.query(f"create table many.model ({COLUMNS})")
    model = warehouse / "many" / "model" / "metadata"
    for number in range(TABLES - 1):
        shutil.copytree(model, warehouse / "many" / f"t_{number:05}" / "metadata")


def measure(name: str, call: Callable[[], int], pid: int, runs: int) -> list[dict]:
    samples = []
    for run in range(runs):
        rows = 0

        def counted() -> None:
            nonlocal rows
            rows = call()

        with PeakMemory(pid) as peak:
            seconds = timed(counted)
        samples.append({"seconds": seconds, "rows": rows, "peak_bytes": max(peak.bytes, proportional_bytes(pid))})
        progress(f"{name}, run {run + 1}: {rows} rows in {seconds:.2f} s")
    return samples


main()

"""Has the service write all tables of the matrix, and compares what it reads of them with what it was given.

Leaves for the readers what there is to read: see `written_table.py`.
"""

import json
import re
import threading
import uuid
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa

from canonical import canonical
from checks import Checks, expect
from equality import difference
from matrix import TableCase, table_cases
from target import target_from_arguments
from written_table import WrittenTable, quoted, read_rows, write_rows, written_folder

#: As many as the machine has processors, so that it does not wait for one statement's round trips.
WRITERS = 2

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")
schema = f"written_{uuid.uuid4().hex[:8]}"
local = threading.local()
connections: list[adbc.Connection] = []
written: list[WrittenTable] = []
#: By group: rows of the first INSERT.
first_rows: dict[str, int] = {}


def run(sql: str) -> pa.Table | None:
    """Each thread has a connection of its own."""
    if not hasattr(local, "connection"):
        local.connection = adbc.connect(
            target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
        )
        connections.append(local.connection)
    with local.connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table() if cursor.description else None


def write_group(case: TableCase) -> None:
    """The rows that the group's tables are to have, by the same queries without a table."""
    source = " UNION ALL ".join(case.queries)
    rows = run(source)
    wanted = run(f"SELECT * FROM ({source}) WHERE {quoted(case.column)} = {case.wanted}")
    expect(0 < wanted.num_rows < rows.num_rows, True, "some rows have the wanted value")
    write_rows(target, case.group, rows)
    write_rows(target, f"{case.group}_wanted", wanted)
    first_rows[case.group] = run(case.queries[0]).num_rows
    value = run(f"SELECT {case.wanted} AS value").column(0)[0].as_py()
    described = {"value": canonical(value), "rows": canonical_rows(rows), "wanted": canonical_rows(wanted)}
    (written_folder(target) / f"{case.group}.json").write_text(json.dumps(described))


def canonical_rows(rows: pa.Table) -> list:
    return [[canonical(value) for value in row.values()] for row in rows.to_pylist()]


def write_table(case: TableCase) -> pa.Table:
    partitioned = f"PARTITIONED BY ({case.partitioned})" if case.partitioned else ""
    run(f"CREATE TABLE {schema}.{case.name} ({case.columns}) {partitioned} TBLPROPERTIES ('format-version' = '{case.version}')")
    for query in case.queries:
        run(f"INSERT INTO {schema}.{case.name} {query}")
    return run(f"SELECT * FROM {schema}.{case.name}")


def newest_metadata(name: str) -> Path:
    folder = Path(target.tables) / "warehouse" / schema / name / "metadata"
    versions = {int(found[1]): path for path in folder.iterdir() if (found := re.fullmatch(r"v(\d+)\.metadata\.json", path.name))}
    return versions[max(versions)]


def check(case: TableCase, table: Future[pa.Table]):
    def checked():
        rows = table.result()
        expect(difference(read_rows(target, case.group), rows), None)
        wanted = run(f"SELECT * FROM {schema}.{case.name} WHERE {quoted(case.column)} = {case.wanted}")
        expect(difference(read_rows(target, f"{case.group}_wanted"), wanted), None, f"{case.column} = {case.wanted}")
        written.append(
            WrittenTable(
                name=case.name,
                metadata=str(newest_metadata(case.name)),
                version=case.version,
                group=case.group,
                column=case.column,
                wanted=case.wanted,
                first_rows=first_rows[case.group],
                faults=case.faults,
            )
        )
        return f"{rows.num_rows} rows, {wanted.num_rows} wanted"

    return checked


written_folder(target).mkdir(parents=True, exist_ok=True)
run(f"CREATE SCHEMA {schema}")
with ThreadPoolExecutor(WRITERS) as writers:
    cases = list(table_cases())
    for group in {case.group: case for case in cases}.values():
        write_group(group)
    for each in cases:
        checks.add(each.name, check(each, writers.submit(write_table, each)))
    checks.run()
(written_folder(target) / "cases.json").write_text(json.dumps([asdict(each) for each in written]))
for connection in connections:
    connection.close()

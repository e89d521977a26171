"""The 22 TPC-H statements for whom policies hide rows and mask columns: equal to DuckDB's answers to the same by hand."""

from pathlib import Path

from checks import Checks, expect
from contestants import bearer_service, raw_duckdb
from equality import difference
from target import target_from_arguments
from tpch_policies import POLICIES, handwritten
from tpch_queries import TOTALLY_ORDERED, tpch_queries

target = target_from_arguments()
checks = Checks()
engine = raw_duckdb(Path(target.tables))
services = {kind: bearer_service(target.uri, target.tokens[kind], "tpch") for kind in POLICIES}


def answer(kind: str, name: str, sql: str):
    def check():
        actual = services[kind].query(sql)
        expected = engine.query(handwritten(sql, kind))
        expect(difference(expected, actual, ordered=name in TOTALLY_ORDERED, tolerance=1e-12), None)
        return f"{actual.num_rows} rows"

    return check


def hiding(kind: str):
    """Equal answers say something only where something is hidden."""

    def check():
        left = {}
        for table in POLICIES[kind]["tables"]:
            count = f"select count(*) from {table}"
            seen, there = (system.query(count).column(0)[0].as_py() for system in (services[kind], engine))
            if not 0 < seen < there:
                raise AssertionError(f"{seen} of {there} rows of {table} are left")
            left[table] = f"{seen} of {there}"
        return left

    return check


for policies in POLICIES:
    checks.add(f"{policies} policies hide rows", hiding(policies))
    for query_name, text in tpch_queries().items():
        checks.add(f"{policies} {query_name}", answer(policies, query_name, text))

checks.run()
for service in services.values():
    service.connection.close()

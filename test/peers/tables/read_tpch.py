"""The 22 TPC-H statements over pyiceberg's tables: the service's answers must equal DuckDB's over the same files."""

from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc

from checks import Checks, expect
from contestants import raw_duckdb
from equality import difference
from target import target_from_arguments
from tpch_queries import TOTALLY_ORDERED, tpch_queries

target = target_from_arguments()
checks = Checks()
engine = raw_duckdb(Path(target.tables))
connection = adbc.connect(
    target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
)
with connection.cursor() as start:
    start.execute("use lake.tpch")
    start.fetch_arrow_table()


def answer(name: str, sql: str):
    def check():
        with connection.cursor() as cursor:
            cursor.execute(sql)
            actual = cursor.fetch_arrow_table()
        expected = engine.query(sql)
        expect(difference(expected, actual, ordered=name in TOTALLY_ORDERED, tolerance=1e-12), None)
        return f"{actual.num_rows} rows"

    return check


for query_name, text in tpch_queries().items():
    checks.add(query_name, answer(query_name, text))

checks.run()
connection.close()

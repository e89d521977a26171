"""The systems that the benchmarks compare, behind one shape: a name, `query(sql)` and `stream(sql)`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import adbc_driver_flightsql.dbapi as adbc
import duckdb
import pyarrow as pa
import pyarrow.flight as flight
from adbc_driver_flightsql import DatabaseOptions

from flight_sql_messages import statement_query
from tpch_data import TABLES, data_files


class Contestant(Protocol):
    name: str

    def query(self, sql: str) -> pa.Table: ...

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]: ...


class OverAdbc:
    """A Flight SQL server, reached as a user would reach it."""

    def __init__(self, name: str, uri: str, **options: str) -> None:
        self.name = name
        self.connection = adbc.connect(uri, db_kwargs=options, autocommit=True)

    def query(self, sql: str) -> pa.Table:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()


class OverPyarrow:
    """A Flight SQL server through pyarrow's own client."""

    def __init__(self, name: str, uri: str, credentials: tuple[str, str] | None = None, tls_roots: str | None = None) -> None:
        self.name = name
        roots = {"tls_root_certs": tls_roots.encode()} if tls_roots else {}
        self.client = flight.FlightClient(uri, **roots)
        headers = [self.client.authenticate_basic_token(*credentials)] if credentials else []
        self.options = flight.FlightCallOptions(headers=headers)

    def query(self, sql: str) -> pa.Table:
        return self._reader(sql).read_all()

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        reader = self._reader(sql)
        try:
            for chunk in reader:
                yield chunk.data
        finally:
            reader.cancel()

    def close(self) -> None:
        self.client.close()

    def _reader(self, sql: str) -> flight.FlightStreamReader:
        info = self.client.get_flight_info(flight.FlightDescriptor.for_command(statement_query(sql)), self.options)
        return self.client.do_get(info.endpoints[0].ticket, self.options)


class InProcess:
    """DuckDB in the client's own process, fetching Arrow: no server, no wire, the limit of what is possible."""

    def __init__(self, name: str, connection: duckdb.DuckDBPyConnection) -> None:
        self.name = name
        self.connection = connection

    def query(self, sql: str) -> pa.Table:
        return self.connection.execute(sql).fetch_arrow_table()

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        yield from self.connection.execute(sql).fetch_record_batch(122_880)


def raw_duckdb(folder: Path) -> InProcess:
    """DuckDB over the Parquet files of the Iceberg tables: the same bytes, read without Iceberg."""
    connection = duckdb.connect()
    for name, files in data_files(folder).items():
        connection.execute(f"create view {name} as select * from read_parquet({files!r})")
    return InProcess("duckdb", connection)


def sail(port: int, folder: Path) -> OverAdbc:
    """Sail's Flight SQL server with the same Parquet files as tables."""
    contestant = OverAdbc("sail", f"grpc://127.0.0.1:{port}")
    for name in TABLES:
        location = folder / "warehouse" / "tpch" / name / "data"
        contestant.query(f"create table {name} using parquet location '{location}'")
    return contestant


def service(target: dict, schema: str | None) -> OverAdbc:
    """Our service, with a default schema so that unqualified names work."""
    options = {"username": target["username"], "password": target["password"]}
    if target.get("tls_roots"):
        options[DatabaseOptions.TLS_ROOT_CERTS.value] = target["tls_roots"]
    contestant = OverAdbc("svc", uri_of(target), **options)
    if schema:
        contestant.query(f"use lake.{schema}")
    return contestant


def bearer_service(uri: str, token: str, schema: str, name: str = "svc") -> OverAdbc:
    """Our service for a program with a static token."""
    contestant = OverAdbc(name, uri, **{DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {token}"})
    contestant.query(f"use lake.{schema}")
    return contestant


def service_by_pyarrow(target: dict, schema: str | None) -> OverPyarrow:
    credentials = (target["username"], target["password"])
    contestant = OverPyarrow("svc", uri_of(target), credentials, target.get("tls_roots"))
    if schema:
        contestant.query(f"use lake.{schema}")
    return contestant


def uri_of(target: dict) -> str:
    return f"{'grpc+tls' if target.get('tls_roots') else 'grpc'}://{target['host']}:{target['flight_port']}"

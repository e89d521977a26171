"""A signed-in pyarrow Flight client with the calls the checks are made of."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.flight as flight

import flight_sql_messages as messages
from target import Target


def connect(target: Target, **options) -> flight.FlightClient:
    if target.tls_roots:
        options.setdefault("tls_root_certs", target.tls_roots.encode())
    return flight.FlightClient(target.uri, **options)


class BasicHandler(flight.ClientAuthHandler):
    """The older way to sign in: the credentials travel as a message, the token comes back as one."""

    def __init__(self, username: str, password: str) -> None:
        super().__init__()
        self._credentials = flight.BasicAuth(username, password)
        self._token = b""

    def authenticate(self, outgoing, incoming) -> None:
        outgoing.write(self._credentials.serialize())
        self._token = incoming.read()

    def get_token(self) -> bytes:
        return self._token


@dataclass
class Session:
    client: flight.FlightClient
    header: tuple[bytes, bytes]

    @staticmethod
    def open(target: Target) -> "Session":
        client = connect(target)
        return Session(client, client.authenticate_basic_token(target.username, target.password))

    def options(self, **more) -> flight.FlightCallOptions:
        headers = [self.header, *more.pop("headers", [])]
        return flight.FlightCallOptions(headers=headers, **more)

    def info(self, command: bytes, **options) -> flight.FlightInfo:
        return self.client.get_flight_info(flight.FlightDescriptor.for_command(command), self.options(**options))

    def reader(self, ticket: flight.Ticket, **options) -> flight.FlightStreamReader:
        return self.client.do_get(ticket, self.options(**options))

    def start(self, sql: str, **options) -> flight.FlightStreamReader:
        """Plans and starts; every query of the service has one endpoint."""
        return self.reader(self.info(messages.statement_query(sql), **options).endpoints[0].ticket, **options)

    def command(self, command: bytes) -> pa.Table:
        """Runs a command to its end; its result must be valid and have exactly the announced schema."""
        info = self.info(command)
        table = pa.concat_tables(self.reader(endpoint.ticket).read_all() for endpoint in info.endpoints)
        table.validate(full=True)
        if not table.schema.equals(info.schema, check_metadata=True):
            raise AssertionError(f"the stream's schema {table.schema} is not the announced one {info.schema}")
        return table

    def query(self, sql: str) -> pa.Table:
        return self.command(messages.statement_query(sql))

    def value(self, sql: str) -> object:
        return self.query(sql).column(0)[0].as_py()

    def action(self, name: str, body: bytes = b"") -> list[bytes]:
        results = self.client.do_action(flight.Action(name, body), self.options())
        return [result.body.to_pybytes() for result in results]

    def close(self) -> None:
        self.client.close()

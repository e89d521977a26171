"""Clients that must not get through when the service speaks TLS."""

import pyarrow as pa
import pyarrow.flight as flight

from checks import Checks, expect
from pyarrow_session import connect
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()


def unreachable(client: flight.FlightClient) -> None:
    try:
        client.authenticate_basic_token(target.username, target.password, flight.FlightCallOptions(timeout=10))
    except (flight.FlightUnavailableError, flight.FlightTimedOutError, flight.FlightInternalError, pa.ArrowException):
        return
    finally:
        client.close()
    raise AssertionError("the client got through")


@checks.check
def a_client_without_tls_does_not_get_through():
    unreachable(flight.FlightClient(target.uri.replace("grpc+tls", "grpc")))


@checks.check
def a_client_that_does_not_know_the_certificate_does_not_get_through():
    unreachable(flight.FlightClient(target.uri))


@checks.check
def a_client_that_checks_nothing_gets_through():
    client = flight.FlightClient(target.uri, disable_server_verification=True)
    expect(client.authenticate_basic_token(target.username, target.password)[0], b"authorization")
    client.close()


@checks.check
def the_name_localhost_is_in_the_certificate():
    client = flight.FlightClient(
        target.uri.replace(target.host, "localhost"), tls_root_certs=target.tls_roots.encode()
    )
    expect(client.authenticate_basic_token(target.username, target.password)[0], b"authorization")
    client.close()


@checks.check
def a_trusting_client_gets_through():
    client = connect(target)
    expect(client.authenticate_basic_token(target.username, target.password)[0], b"authorization")
    client.close()


checks.run()

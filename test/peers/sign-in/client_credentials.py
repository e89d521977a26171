"""A service that is itself the provider's client: whoever has the handshake password acts as it (specification, section 5.4)."""

import pyarrow.flight as flight

from checks import Checks, expect, raises
from provider import Provider, call, once
from pyarrow_session import Session, connect
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

PROGRAM = "service"
REFRESH = "/api/v1/catalogs/refresh"


def with_password(username: str, password: str) -> Session:
    client = connect(target)
    return Session(client, client.authenticate_basic_token(username, password))


def with_bearer(token: str) -> Session:
    return Session(connect(target), (b"authorization", f"Bearer {token}".encode()))


@checks.check
def any_name_signs_in_with_the_handshake_password():
    for username in ("carol", "dave", "alice"):
        session = with_password(username, target.password)
        expect(session.value(once(PROGRAM, username)), 42)
        session.close()


@checks.check
def another_password_is_refused_even_where_the_provider_knows_it():
    for password in ("wrong", "", provider.password_of("alice")):
        with raises(flight.FlightUnauthenticatedError, "[UNAUTHENTICATED] The user name or the password is not right."):
            with_password("alice", password)


@checks.check
def a_session_by_password_has_no_roles():
    session = with_password("alice", target.password)
    bearer = session.header[1].decode().removeprefix("Bearer ")
    expect(session.value("select 1"), 1)
    expect(call(target, REFRESH, bearer).status, 403)
    session.close()


@checks.check
def access_tokens_of_the_issuer_are_bearers_with_their_roles():
    for username, status in (("alice", 200), ("bob", 403)):
        token = provider.access_token(username)
        session = with_bearer(token)
        expect(session.value(once(PROGRAM, username)), 42)
        expect(call(target, REFRESH, token).status, status)
        session.close()


@checks.check
def an_access_token_for_another_audience_is_refused():
    session = with_bearer(provider.service_token())
    with raises(flight.FlightUnauthenticatedError, "[UNAUTHENTICATED] "):
        session.value("select 1")
    session.close()


checks.run()

"""ADBC against a service whose users sign in at Keycloak: by password and by access token."""

import adbc_driver_flightsql.dbapi as adbc
from adbc_driver_flightsql import DatabaseOptions

from checks import Checks, expect, raises, wait_until
from provider import Provider, once, wrong_tokens
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

PROGRAM = "adbc"
WAIT_SECONDS = 30.0


def connect(**options) -> adbc.Connection:
    return adbc.connect(target.uri, db_kwargs=options, autocommit=True)


def with_password(username: str, password: str | None = None) -> adbc.Connection:
    return connect(username=username, password=password or provider.password_of(username))


def with_bearer(token: str) -> adbc.Connection:
    return connect(**{DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {token}"})


def value(connection: adbc.Connection, sql: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


@checks.check
def each_user_signs_in_by_password():
    for username in ("alice", "bob"):
        with with_password(username) as connection:
            expect(value(connection, once(PROGRAM, username)), 42)


@checks.check
def a_wrong_password_is_refused():
    with raises(adbc.ProgrammingError, "[UNAUTHENTICATED] The user name or the password is not right."):
        with with_password("alice", "wrong") as connection:
            value(connection, "select 1")


@checks.check
def an_access_token_is_an_authorization_header():
    for username in ("alice", "bob"):
        with with_bearer(provider.access_token(username)) as connection:
            expect(value(connection, once(PROGRAM, username)), 42)


@checks.check
def a_static_token_is_an_authorization_header():
    with with_bearer(provider.static_token("admin")) as connection:
        expect(value(connection, once(PROGRAM, "alice-program")), 42)


@checks.check
def tokens_that_are_none_are_refused():
    for token in wrong_tokens(provider.access_token("bob")).values():
        with raises(adbc.ProgrammingError, "[UNAUTHENTICATED] "):
            with with_bearer(token) as connection:
                value(connection, "select 1")


@checks.check
def a_session_of_an_access_token_ends_with_the_token():
    with with_bearer(provider.brief_token("bob")) as connection:
        expect(value(connection, "select 1"), 1)

        def is_over() -> bool:
            try:
                return value(connection, "select 1") != 1
            except adbc.ProgrammingError as error:
                expect("[SESSION_EXPIRED] session expired, sign in again" in str(error), True, str(error))
                return True

        wait_until(is_over, "the token's session lives on", WAIT_SECONDS)


@checks.check
def a_failing_statement_fails_once_in_the_audit_log():
    with with_password("bob") as connection:
        with raises(adbc.ProgrammingError, "TABLE_NOT_FOUND"):
            value(connection, once(PROGRAM, "bob").replace("select 42", "select * from lake.peers.missing"))


checks.run()

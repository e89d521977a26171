"""pyarrow.flight against a service whose users sign in at Keycloak: by password and by access token."""

import time

import pyarrow.flight as flight

from checks import Checks, expect, raises, wait_until
from provider import Provider, once, wrong_tokens
from pyarrow_session import BasicHandler, Session, connect
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

PROGRAM = "pyarrow"
WAIT_SECONDS = 30.0


def with_password(username: str) -> Session:
    client = connect(target)
    return Session(client, client.authenticate_basic_token(username, provider.password_of(username)))


def with_bearer(token: str) -> Session:
    return Session(connect(target), (b"authorization", f"Bearer {token}".encode()))


def refusal(token: str) -> str:
    """What is said to a bearer that is refused."""
    session = with_bearer(token)
    try:
        session.value("select 1")
    except flight.FlightUnauthenticatedError as error:
        return str(error)
    finally:
        session.close()
    raise AssertionError("the bearer is taken")


@checks.check
def each_user_signs_in_by_password():
    for username in ("alice", "bob"):
        session = with_password(username)
        expect(session.value(once(PROGRAM, username)), 42)
        session.close()


@checks.check
def the_handler_way_signs_in_by_password():
    client = connect(target)
    client.authenticate(BasicHandler("bob", provider.password_of("bob")))
    expect(len(list(client.list_actions())) > 0, True)
    client.close()


@checks.check
def a_wrong_password_and_an_unknown_user_have_one_answer():
    client = connect(target)
    messages = set()
    for username, password in (("alice", "wrong"), ("nobody", "wrong"), ("alice", provider.password_of("bob")), ("alice", "")):
        try:
            client.authenticate_basic_token(username, password)
        except flight.FlightUnauthenticatedError as error:
            messages.add(str(error))
        else:
            raise AssertionError(f"{username} got in")
    client.close()
    expect(len(messages), 1, str(messages))
    expect("[UNAUTHENTICATED] The user name or the password is not right." in messages.pop(), True)


@checks.check
def an_access_token_is_a_bearer():
    for username in ("alice", "bob"):
        session = with_bearer(provider.access_token(username))
        expect(session.value(once(PROGRAM, username)), 42)
        session.close()


@checks.check
def a_static_token_is_a_bearer():
    session = with_bearer(provider.static_token("analyst"))
    expect(session.value(once(PROGRAM, "bob-program")), 42)
    session.close()


@checks.check
def tokens_that_are_none_have_one_answer():
    answers = {name: refusal(token) for name, token in wrong_tokens(provider.access_token("bob")).items()}
    answers["of another realm"] = refusal(provider.foreign_token())
    tokens = provider.tokens("bob", scope="openid")
    answers["a refresh token"] = refusal(tokens["refresh_token"])
    answers["an ID token"] = refusal(tokens["id_token"])
    expect({name: "[UNAUTHENTICATED] " in text for name, text in answers.items()}, dict.fromkeys(answers, True))
    expect(len(set(answers.values())), 1, str(answers))


@checks.check
def a_guessed_session_is_lost():
    expect("[SESSION_LOST] session lost, sign in again" in refusal("A" * 43), True)


@checks.check
def a_closed_session_is_lost_and_the_users_others_are_not():
    closing, other = with_password("alice"), with_password("alice")
    expect(closing.value("select 1"), 1)
    closing.action("CloseSession")
    with raises(flight.FlightUnauthenticatedError, "[SESSION_LOST] session lost, sign in again"):
        closing.value("select 1")
    expect(other.value("select 1"), 1)
    closing.close()
    other.close()


@checks.check
def a_session_of_an_access_token_ends_with_the_token():
    token = provider.brief_token("alice")
    session = with_bearer(token)
    began = time.monotonic()
    expect(session.value("select 1"), 1)

    def is_over() -> bool:
        try:
            return session.value("select 1") != 1
        except flight.FlightUnauthenticatedError as error:
            expect("[SESSION_EXPIRED] session expired, sign in again" in str(error), True, str(error))
            return True

    wait_until(is_over, "the token's session lives on", WAIT_SECONDS)
    lived = time.monotonic() - began
    expect(lived > provider["briefSeconds"] - 2, True, f"over after {lived:.1f} s")
    session.close()
    fresh = with_bearer(provider.brief_token("alice"))
    expect(fresh.value("select 1"), 1)
    fresh.close()
    return f"after {lived:.1f} s"


@checks.check
def a_session_by_password_outlives_a_token_of_the_user():
    session = with_password("bob")
    brief = with_bearer(provider.brief_token("bob"))
    expect(brief.value("select 1"), 1)
    brief.action("CloseSession")
    expect(session.value("select 1"), 1)
    brief.close()
    session.close()


@checks.check
def the_own_catalog_cache_is_refreshed_by_sql():
    session = with_password("bob")
    session.query("call system.refresh_catalog_cache()")
    expect(session.value("select 1"), 1)
    session.close()


checks.run()

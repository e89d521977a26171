"""Wrong passwords at full speed: what of them reaches the provider, and who may still sign in. The limits are the defaults."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.flight as flight

from checks import Checks, expect
from provider import Provider
from pyarrow_session import connect
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

ATTEMPTS = 1000
AT_ONCE = 32
#: auth.max_failures_per_user, auth.max_failures_per_address
PER_USER, PER_ADDRESS = 10, 100

client = connect(target)


def attempt(username: str, password: str, address: str) -> str:
    """The code of the answer, or "in". The service believes its proxy, which we are, what the client's address is."""
    options = flight.FlightCallOptions(headers=[(b"x-forwarded-for", address.encode())])
    try:
        client.authenticate_basic_token(username, password, options)
    except (flight.FlightUnauthenticatedError, flight.FlightUnavailableError, pa.ArrowInvalid) as error:
        return next((code for code in ("SIGN_IN_LIMITED", "UNAUTHENTICATED") if f"[{code}]" in str(error)), str(error))
    return "in"


def flood(username, address: str) -> tuple[Counter, int]:
    """The codes of 1,000 wrong passwords at once, and how many the provider was asked about."""
    before = provider.password_grants()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        codes = Counter(threads.map(lambda each: attempt(username(each), "wrong", address), range(ATTEMPTS)))
    return codes, provider.password_grants() - before


@checks.check
def of_1000_wrong_passwords_for_a_user_the_provider_sees_as_many_as_configured():
    codes, asked = flood(lambda _: "alice", "192.0.2.1")
    expect(asked, PER_USER)
    expect(codes, Counter(UNAUTHENTICATED=PER_USER, SIGN_IN_LIMITED=ATTEMPTS - PER_USER))


@checks.check
def while_a_user_is_limited_at_an_address_the_right_password_is_not_asked_about_there():
    before = provider.password_grants()
    expect(attempt("alice", provider.password_of("alice"), "192.0.2.1"), "SIGN_IN_LIMITED")
    expect(attempt("ALICE", "wrong", "192.0.2.1"), "SIGN_IN_LIMITED", "in capitals")
    expect(provider.password_grants() - before, 0)


@checks.check
def the_same_user_elsewhere_and_another_user_there_sign_in():
    expect(attempt("alice", provider.password_of("alice"), "192.0.2.2"), "in")
    expect(attempt("bob", provider.password_of("bob"), "192.0.2.1"), "in")


@checks.check
def of_1000_wrong_passwords_for_many_users_the_provider_sees_as_many_as_an_address_may_have():
    codes, asked = flood(lambda each: f"user-{each}", "192.0.2.3")
    expect(asked, PER_ADDRESS)
    expect(codes, Counter(UNAUTHENTICATED=PER_ADDRESS, SIGN_IN_LIMITED=ATTEMPTS - PER_ADDRESS))


@checks.check
def an_address_that_nobody_can_have_changes_nothing():
    for address in ("nonsense", "192.0.2.2, nonsense", "999.1.1.1", "a" * 4000):
        expect(attempt("bob", provider.password_of("bob"), address), "in", address[:20])


@checks.check
def right_passwords_are_never_limited():
    with ThreadPoolExecutor(AT_ONCE) as threads:
        codes = Counter(
            threads.map(lambda _: attempt("bob", provider.password_of("bob"), "192.0.2.4"), range(PER_USER * 2))
        )
    expect(codes, Counter({"in": PER_USER * 2}))


checks.run()

"""Tickets, prepared statements and sessions that have outlived their time. The service runs with its shortest times."""

import pyarrow as pa
import pyarrow.flight as flight

import flight_sql_messages as messages
from checks import Checks, expect, raises, wait_until
from pyarrow_session import Session
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()

#: The configured times are 10 and 12 s; sweeps and a busy machine may add to them.
WAIT_SECONDS = 60.0


@checks.check
def a_ticket_that_nobody_uses_expires_and_says_so():
    """A session that goes idle later than an unused ticket expires is the clock: asking for the ticket would renew it."""
    session = Session.open(target)
    ticket = session.info(messages.statement_query("select 1")).endpoints[0].ticket
    clock = Session.open(target)  # after the ticket, or a slow first statement ends the clock's time before the ticket's
    before = target.metric("svc_active_sessions")

    def clock_has_run_down() -> bool:
        session.value("select 1")  # keeps the ticket's own session in use
        return target.metric("svc_active_sessions") < before

    waited = wait_until(clock_has_run_down, "the idle session is still open", WAIT_SECONDS)
    with raises(pa.ArrowKeyError, "TICKET_EXPIRED"):
        session.reader(ticket).read_all()
    session.close()
    clock.close()
    return f"after {waited:.1f} s"


@checks.check
def an_idle_session_expires_and_a_new_one_works():
    session = Session.open(target)
    expect(session.value("select 1"), 1)
    before = target.metric("svc_active_sessions")
    waited = wait_until(lambda: target.metric("svc_active_sessions") < before, "the session is still open", WAIT_SECONDS)
    try:
        session.value("select 1")
    except flight.FlightUnauthenticatedError as error:
        expect("SESSION_EXPIRED" in str(error), True, str(error))
    else:
        raise AssertionError("the expired session still answers")
    fresh = Session.open(target)
    expect(fresh.value("select 1"), 1)
    fresh.close()
    session.close()
    return f"after {waited:.1f} s"


checks.run()

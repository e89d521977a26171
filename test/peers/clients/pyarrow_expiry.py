"""Tickets, prepared statements and sessions that have outlived their time. The service runs with its shortest times."""

import pyarrow as pa
import pyarrow.flight as flight

import flight_sql_messages as messages
from checks import Checks, expect, wait_until
from pyarrow_session import Session
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()

#: The configured times are 10 and 12 s; sweeps and a busy machine may add to them.
WAIT_SECONDS = 60.0


@checks.check
def a_ticket_expires_and_says_so():
    session = Session.open(target)
    ticket = session.info(messages.statement_query("select 1")).endpoints[0].ticket
    expect(session.reader(ticket).read_all().num_rows, 1)

    def is_refused() -> bool:
        session.value("select 1")  # keeps the session in use
        try:
            session.reader(ticket).read_all()
        except pa.ArrowKeyError as error:
            expect("TICKET_EXPIRED" in str(error), True, str(error))
            return True
        return False

    waited = wait_until(is_refused, "the ticket is still good", WAIT_SECONDS)
    session.close()
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

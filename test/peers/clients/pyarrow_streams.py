"""pyarrow.flight against the service: streams that are cancelled, abandoned, too slow or too late."""

import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight

from checks import Checks, expect, raises, wait_until
from pyarrow_session import Session
from statements import ENDLESS_ROWS, ENDLESS_WORK
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
session = Session.open(target)

#: The bar for giving the engine back after a client has gone, and what a loaded test machine may add to it.
FREE_SECONDS = 1.0 + 2.0
SLEEPERS = 6

ABANDONING_PROGRAM = """
import sys, time
from pyarrow_session import Session
from statements import ENDLESS_ROWS
from target import target_from_arguments
reader = Session.open(target_from_arguments()).start(ENDLESS_ROWS)
reader.read_chunk()
print("reading", flush=True)
time.sleep(600)
"""


def nothing_runs() -> bool:
    return target.active_queries() == 0


def free_within(seconds: float = FREE_SECONDS) -> str:
    waited = wait_until(nothing_runs, "the cancelled query still runs", seconds)
    expect(session.value("select 1"), 1, "the next query")
    return f"free after {waited * 1000:.0f} ms"


@checks.check
def a_stream_that_is_cancelled_frees_its_engine():
    reader = session.start(ENDLESS_ROWS)
    expect(reader.read_chunk().data.num_rows > 0, True)
    expect(target.active_queries(), 1, "active before")
    reader.cancel()
    with raises(flight.FlightCancelledError):
        while True:
            reader.read_chunk()
    return free_within()


@checks.check
def a_query_that_is_cancelled_before_its_first_row_frees_its_engine():
    reader = session.start(ENDLESS_WORK)
    wait_until(lambda: target.active_queries() == 1, "the query runs")
    threading.Timer(0.3, reader.cancel).start()
    with raises(flight.FlightCancelledError):
        reader.read_all()
    return free_within()


@checks.check
def a_client_that_is_killed_frees_its_engine():
    child = subprocess.Popen([sys.executable, "-c", ABANDONING_PROGRAM, sys.argv[1]], stdout=subprocess.PIPE, text=True)
    try:
        expect(child.stdout.readline().strip(), "reading")
        expect(target.active_queries(), 1, "active before")
    finally:
        child.kill()
        child.wait()
    return free_within()


@checks.check
def a_deadline_ends_a_running_query():
    began = time.monotonic()
    with raises(flight.FlightTimedOutError):
        session.start(ENDLESS_WORK, timeout=1.0).read_all()
    expect(time.monotonic() - began < 10, True, "ended near its deadline")
    return free_within()


@checks.check
def a_deadline_of_a_year_is_no_deadline():
    reader = session.start("select 1 as n", timeout=365 * 86_400.0)
    expect(reader.read_all().to_pydict(), {"n": [1]})


@checks.check
def more_sleepers_than_engines_leave_room_for_a_small_query():
    """Each sleeper has its own connection, reads one batch, and stops."""
    sleepers = []
    try:
        for _ in range(SLEEPERS):
            sleeper = Session.open(target)
            reader = sleeper.start(ENDLESS_ROWS)
            reader.read_chunk()
            sleepers.append((sleeper, reader))
        began = time.monotonic()
        expect(session.value("select 1"), 1)
        seconds = time.monotonic() - began
        expect(seconds < 10, True, f"select 1 took {seconds:.1f} s")
    finally:
        for sleeper, reader in sleepers:
            reader.cancel()
            sleeper.close()
    return f"select 1 after {seconds * 1000:.0f} ms; {free_within(15)}"


@checks.check
def sessions_work_side_by_side():
    results: list[object] = []

    def work(number: int) -> None:
        mine = Session.open(target)
        try:
            for step in range(5):
                results.append(mine.value(f"select {number} * 100 + {step}"))
        finally:
            mine.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(sorted(results), sorted(number * 100 + step for number in range(8) for step in range(5)))


@checks.check
def a_large_batch_stays_below_the_clients_limit():
    """Other clients refuse messages above 16 MiB."""
    reader = session.start("select repeat('x', 100000) as wide from lake.peers.row_groups")
    rows = 0
    for chunk in reader:
        rows += chunk.data.num_rows
        expect(chunk.data.nbytes < 16 * 2**20, True, f"{chunk.data.nbytes} bytes in a batch")
    expect(rows, 1000)


@checks.check
def an_error_in_mid_stream_arrives_with_its_code():
    sql = "select case when a.id = 999 then cast(a.category || 'x' as integer) else 1 end as n from lake.peers.row_groups a, lake.peers.row_groups b"
    with raises(pa.ArrowInvalid, "EVALUATION_ERROR"):
        session.query(sql)
    expect(session.value("select 1"), 1, "afterwards")


checks.run()
session.close()

"""Planning a small statement and listing tables: by a service that asks its catalog each time, and by one with session contexts."""

from collections.abc import Callable

import pyarrow.flight as flight

import contestants
from flight_sql_messages import statement_query
from measuring import answer, arguments, interleaved, progress, timed

BLOCK = 50
WARM_UP_BLOCKS = 1
STATEMENT = "select count(*) from region r join nation n on r.r_regionkey = n.n_regionkey"


def main() -> None:
    given = arguments()
    systems = {name: contestants.service_by_pyarrow(given[name], "tpch") for name in ("service", "contexts")}
    samples: dict[str, dict[str, list[float]]] = {}
    for run, name in interleaved(list(systems), WARM_UP_BLOCKS + given["runs"]):
        for what, call in calls_of(systems[name]).items():
            taken = [timed(call) for _ in range(BLOCK)]
            if run >= WARM_UP_BLOCKS:
                samples.setdefault(what, {}).setdefault(name, []).extend(taken)
    progress(f"{BLOCK * given['runs']} times each")
    answer(samples)


def calls_of(system: contestants.OverPyarrow) -> dict[str, Callable[[], object]]:
    plan = flight.FlightDescriptor.for_command(statement_query(STATEMENT))
    return {
        "planning a join of two tables": lambda: system.client.get_flight_info(plan, system.options),
        "running it": lambda: system.query(STATEMENT),
        "show tables": lambda: system.query("show tables in tpch"),
    }


main()

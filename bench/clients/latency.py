"""Bar 4: `select 1` on a warm ADBC session, ours and Sail's in turn; a filter that keeps one row group of the sample."""

import re

import contestants
from measuring import answer, arguments, interleaved, progress, timed

BLOCK = 200
WARM_UP_BLOCKS = 2
FLIGHTS = """
select origin, count(*) as flights, avg(delay) as delay from samples.flights
where date >= timestamp '2001-02-10' and date < timestamp '2001-02-15'
group by origin order by flights desc, origin limit 10
"""
FLIGHTS_BLOCK = 20


def main() -> None:
    given = arguments()
    systems = {
        "svc": contestants.service(given["samples"], "samples"),
        "sail": contestants.OverAdbc("sail", f"grpc://127.0.0.1:{given['sail']['port']}"),
    }
    ones: dict[str, list[float]] = {name: [] for name in systems}
    flights: list[float] = []
    groups = row_groups_left(systems["svc"])
    for run, name in interleaved(list(systems), WARM_UP_BLOCKS + given["runs"]):
        taken = [timed(lambda: systems[name].query("select 1")) for _ in range(BLOCK)]
        kept = [timed(lambda: systems[name].query(FLIGHTS)) for _ in range(FLIGHTS_BLOCK)] if name == "svc" else []
        if run >= WARM_UP_BLOCKS:
            ones[name] += taken
            flights += kept
    progress(f"{BLOCK * given['runs']} times select 1")
    answer({"select_1": ones, "flights": flights, "row_groups": groups})


def row_groups_left(system: contestants.Contestant) -> list[int]:
    """How many row groups of how many EXPLAIN says are read."""
    lines = "\n".join(system.query(f"explain {FLIGHTS}").column(0).to_pylist())
    found = re.search(r"row groups: (\d+) of (\d+)", lines)
    if not found:
        raise AssertionError(f"EXPLAIN counts no row groups: {lines}")
    return [int(found[1]), int(found[2])]


main()

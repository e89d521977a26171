"""Reading a benchmark's arguments, timing, and answering one JSON document."""

import json
import sys
import time
from collections.abc import Callable


def arguments() -> dict:
    return json.loads(sys.argv[1])


def answer(result: dict) -> None:
    print(json.dumps(result), flush=True)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def interleaved(names: list[str], runs: int):
    """(run, name) so that each run has every name once, each time beginning with another."""
    for run in range(runs):
        shift = run % len(names)
        for name in names[shift:] + names[:shift]:
            yield run, name

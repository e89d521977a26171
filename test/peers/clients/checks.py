"""Runs named checks and reports each as one JSON line: {"name", "ok", "detail", "seconds"}.

A check is a function without arguments; it fails by raising. One that does not end within its time ends the program, with
a line that says so, because a call blocked in native code cannot be interrupted.
"""

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager

CHECK_SECONDS = 90

#: The bar for giving the engine back after a client has gone, and what a loaded test machine may add to it.
FREE_SECONDS = 1.0 + 2.0


class Checks:
    def __init__(self) -> None:
        self._checks: list[tuple[str, Callable[[], object]]] = []

    def add(self, name: str, check: Callable[[], object]) -> None:
        self._checks.append((name, check))

    def check(self, function: Callable[[], object]) -> Callable[[], object]:
        """Decorator: the function's name is the check's, with blanks for underscores."""
        self.add(function.__name__.replace("_", " "), function)
        return function

    def run(self) -> None:
        """Runs the checks in the order they were added, or those that the words on the command line's end name."""
        for name, check in self._checks:
            began = time.monotonic()
            watchdog = threading.Timer(CHECK_SECONDS, self._give_up, (name,))
            watchdog.daemon = True
            watchdog.start()
            try:
                detail = check()
                report(name, True, detail, began)
            except Exception as error:
                report(name, False, describe(error), began)
            finally:
                watchdog.cancel()

    @staticmethod
    def _give_up(name: str) -> None:
        frames = sys._current_frames().values()
        where = "".join(traceback.format_stack(next(iter(frames)))[-2:])
        report(name, False, f"did not end within {CHECK_SECONDS} s; {where}", time.monotonic() - CHECK_SECONDS)
        os._exit(1)


def report(name: str, ok: bool, detail: object, began: float) -> None:
    line = {"name": name, "ok": ok, "detail": "" if detail is None else str(detail), "seconds": time.monotonic() - began}
    print(json.dumps(line), flush=True)


def describe(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename]
    lines = ", ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames[-3:])
    return f"{type(error).__name__}: {error} ({lines})"[:3000]


def expect(actual: object, expected: object, what: str = "") -> None:
    """Equality, with both sides in the message."""
    if actual != expected:
        raise AssertionError(f"{what + ': ' if what else ''}{actual!r}, expected {expected!r}")


@contextmanager
def raises(kind: type[BaseException], *texts: str):
    """The body must raise exactly that class of error, with every text in its message."""
    try:
        yield
    except kind as error:
        if type(error) is not kind:
            raise AssertionError(f"raised {type(error).__name__}, expected {kind.__name__}: {error}") from error
        missing = [text for text in texts if text not in str(error)]
        if missing:
            raise AssertionError(f"the message lacks {missing}: {error}") from error
    else:
        raise AssertionError(f"nothing was raised, expected {kind.__name__}")


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> float:
    """Polls until the condition holds; answers how long that took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return time.monotonic() - began

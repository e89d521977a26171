"""CPU time and memory of a process and everything it started, as Linux counts them."""

import os
import threading
import time
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            fields = stat_fields(int(folder.name))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def stat_fields(pid: int) -> list[str] | None:
    """What follows the command in /proc/<pid>/stat: state, parent, … None when the process has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def cpu_seconds(pid: int) -> float:
    """utime + stime of the tree, and of children that have ended and were waited for."""
    total = 0
    for each in tree(pid):
        fields = stat_fields(each)
        if fields:
            total += sum(map(int, fields[11:15]))
    return total / TICKS_PER_SECOND


def proportional_bytes(pid: int) -> int:
    """Proportional set size of the tree: shared pages are counted once."""
    total = 0
    for each in tree(pid):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


class PeakMemory:
    """Samples the proportional set size of a tree while the block runs; `bytes` is the highest value seen."""

    def __init__(self, pid: int, interval_seconds: float = 0.05) -> None:
        self.bytes = 0
        self._pid = pid
        self._interval = interval_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.bytes = max(self.bytes, proportional_bytes(self._pid))
            self._stop.wait(self._interval)


def settled_bytes(pid: int, seconds: float = 2.0) -> int:
    """The lowest value within some seconds of rest."""
    lowest = proportional_bytes(pid)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.1)
        lowest = min(lowest, proportional_bytes(pid))
    return lowest

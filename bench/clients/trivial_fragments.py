"""What a fragment costs that has nothing to do: one after the other, and many sent and merged by the coordinator's scheduler, with
Sail's `select 1` as the measure of the machine."""

import json
import subprocess

import contestants
from measuring import answer, arguments, progress, timed
from process_tree import cpu_seconds

#: Until V8 has compiled what a fragment runs through.
WARM_UP_TRIPS = 1000
#: Each of the worker's engine hosts compiles for itself, and one after the other asks one host only.
WARM_UP_MERGES = 4
TRIPS = 100
SAIL_BLOCK = 100
FRAGMENTS = 1000

given = arguments()


class Trivial:
    """The coordinator's client and scheduler in a process of its own; see ../fragments/trivial.mjs."""

    def __init__(self, facts: dict) -> None:
        command = [given["node"], *facts["command"]]
        self.worker = facts["pid"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the worker's client did not start")

    def run(self, job: str, count: int) -> dict:
        before = cpu_seconds(self.worker)
        self.process.stdin.write(f"{job} {count}\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        return {**found, "worker_cpu_seconds": cpu_seconds(self.worker) - before}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)


sail = contestants.OverAdbc("sail", f"grpc://127.0.0.1:{given['sail']['port']}")
worker = Trivial(given["worker"])
ones, trips, merges = [], [], []
try:
    worker.run("round trips", WARM_UP_TRIPS)
    for _ in range(WARM_UP_MERGES):
        worker.run("merge", FRAGMENTS)
    for _ in range(WARM_UP_TRIPS):
        sail.query("select 1")
    for _ in range(given["runs"]):
        ones += [timed(lambda: sail.query("select 1")) for _ in range(SAIL_BLOCK)]
        trips.append(worker.run("round trips", TRIPS))
        merges.append(worker.run("merge", FRAGMENTS))
        progress(f"{TRIPS} fragments of nothing, and {FRAGMENTS} at once in {merges[-1]['seconds']:.2f} s")
finally:
    worker.close()
answer({"sail": ones, "trips": trips, "merges": merges, "fragments": FRAGMENTS})

"""Asks a service the TPC-H statements and compares each answer with DuckDB's over the same rows. Usage: answer_queries.py TARGET

Reads one JSON object a line, `{"execution", "count", "least_seconds", "seed", "connections"}`, and answers one: `{"answered",
"problems", "seconds"}`. Without a seed it asks the 22 in their order; with one, what it draws: `count` of them, and more until so
many seconds are over.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import adbc_driver_flightsql.dbapi as adbc

from contestants import raw_duckdb
from equality import difference
from tpch_queries import TOTALLY_ORDERED, tpch_queries

target = json.loads(sys.argv[1])
texts = tpch_queries()
engine = raw_duckdb(Path(target["tables"]))
expected = {name: engine.query(sql) for name, sql in texts.items()}


def connect(execution: str):
    connection = adbc.connect(
        f"grpc://{target['address']}",
        db_kwargs={"username": target["username"], "password": target["password"]},
        autocommit=True,
    )
    for statement in ["use lake.tpch", f"set svc.execution = '{execution}'"]:
        run(connection, statement)
    return connection


def run(connection, sql: str):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def asked(request: dict) -> Iterator[str]:
    if "seed" not in request:
        yield from texts
        return
    draw = random.Random(request["seed"])
    end = time.monotonic() + request.get("least_seconds", 0)
    number = 0
    while number < request["count"] or time.monotonic() < end:
        number += 1
        yield draw.choice(list(texts))


def answer(request: dict) -> dict:
    names = asked(request)
    problems: list[str] = []
    seconds: list[float] = []
    lock = Lock()

    def work() -> None:
        with connect(request["execution"]) as connection:
            while True:
                with lock:
                    name = next(names, None)
                if name is None:
                    return
                began = time.monotonic()
                try:
                    actual = run(connection, texts[name])
                    problem = difference(expected[name], actual, ordered=name in TOTALLY_ORDERED, tolerance=1e-12)
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"[:1000]
                with lock:
                    seconds.append(time.monotonic() - began)
                    if problem is not None:
                        problems.append(f"{name}: {problem}")

    count = request.get("connections", 1)
    with ThreadPoolExecutor(count) as pool:
        for worker in [pool.submit(work) for _ in range(count)]:
            worker.result()
    return {"answered": len(seconds), "problems": problems, "seconds": seconds}


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)

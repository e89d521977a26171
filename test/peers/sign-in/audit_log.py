"""The audit log read back (specification, section 6.1): after the other programs of the same service."""

import hashlib
import json
import re
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa

from checks import Checks, expect, raises, wait_until
from provider import Provider, once
from pyarrow_session import Session, connect
from target import target_from_arguments

target = target_from_arguments()
provider = Provider(target)
checks = Checks()

PROGRAM = "audit"
FIELDS = {
    "timestamp": str,
    "username": str,
    "session_id": str,
    "query_text": str,
    "query_hash": str,
    "statement_type": str,
    "client_ip": str,
    "duration_ms": int,
    "rows_returned": int,
    "policies": list,
    "status": str,
}


def lines() -> list[dict]:
    return [json.loads(line) for line in Path(provider["auditLog"]).read_text("utf-8").splitlines()]


def line_of(text: str) -> dict:
    """The line with this statement, once it is written: that is not part of the statement's answer."""
    wait_until(lambda: any(line["query_text"] == text for line in lines()), f"no line with {text}")
    found = [line for line in lines() if line["query_text"] == text]
    expect(len(found), 1, text)
    return found[0]


def signed_in() -> Session:
    client = connect(target)
    return Session(client, client.authenticate_basic_token(target.username, target.password))


@checks.check
def a_query_has_one_line_with_what_it_was():
    before = datetime.now(timezone.utc) - timedelta(milliseconds=1)
    session = signed_in()
    text = once(PROGRAM, target.username).replace("select 42", "select * from range(7) -- ☃\n")
    expect(session.query(text).num_rows, 7)
    line = line_of(text)
    bearer = session.header[1].decode().removeprefix("Bearer ")
    session.close()
    started = datetime.fromisoformat(line.pop("timestamp").replace("Z", "+00:00"))
    expect(before <= started <= datetime.now(timezone.utc), True, f"started at {started}")
    expect(line.pop("duration_ms") >= 0, True)
    expect(
        line,
        {
            "username": target.username,
            "session_id": hashlib.sha256(bearer.encode()).hexdigest()[:16],
            "query_text": text,
            "query_hash": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
            "statement_type": "query",
            "client_ip": "127.0.0.1",
            "rows_returned": 7,
            "policies": [],
            "status": "ok",
        },
    )


@checks.check
def a_query_that_fails_has_one_line_too():
    session = signed_in()
    missing = once(PROGRAM, target.username).replace("select 42", "select * from lake.peers.missing")
    with raises(pa.ArrowKeyError, "TABLE_NOT_FOUND"):
        session.query(missing)
    garbled = once(PROGRAM, target.username).replace("select 42", "selec 42")
    with raises(pa.ArrowInvalid, "SYNTAX_ERROR"):
        session.query(garbled)
    session.close()
    for text in (missing, garbled):
        line = line_of(text)
        expect((line["username"], line["status"], line["rows_returned"]), (target.username, "error", 0))


@checks.check
def every_line_has_every_field():
    for line in lines():
        expect(list(line), list(FIELDS))
        expect({name: type(value) for name, value in line.items()}, FIELDS)
        expect(re.fullmatch("[0-9a-f]{16}", line["session_id"]) is not None, True, line["session_id"])
        expect(line["query_hash"], f"sha256:{hashlib.sha256(line['query_text'].encode()).hexdigest()}")


@checks.check
def every_clients_statements_have_one_line_each_under_the_right_name():
    marked = [
        (match[0], match[1], line["username"])
        for line in lines()
        if (match := re.search(r"once \w+ (\S+) \d+", line["query_text"])) is not None
    ]
    expect({text: number for text, number in Counter(text for text, _, _ in marked).items() if number > 1}, {})
    expect([each for each in marked if each[1] != each[2]], [])
    programs = Counter(text.split(" ")[1] for text, _, _ in marked)
    return ", ".join(f"{program}: {number}" for program, number in sorted(programs.items()))


checks.run()

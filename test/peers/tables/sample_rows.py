"""Rows that the partitioned and evolved tables are filled with: deterministic, with NULLs and dates before 1970."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pyarrow as pa

CATEGORIES = ["north", "south east", "a/b=c%d", "ünïcode ☃", "", None, "West", "wester", "wet"]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("num", pa.int32()),
        pa.field("flag", pa.bool_()),
        pa.field("ratio", pa.float64()),
        pa.field("category", pa.string()),
        pa.field("amount", pa.decimal128(12, 2)),
        pa.field("day", pa.date32()),
        pa.field("moment", pa.timestamp("us")),
        pa.field("seen", pa.timestamp("us", tz="UTC")),
        pa.field("clock", pa.time64("us")),
        pa.field("raw", pa.binary()),
        pa.field("key", pa.uuid()),
    ]
)


def sample_rows(count: int, start: int = 0) -> pa.Table:
    """`count` rows with ids from `start` on; every seventh value of a column is NULL, each column at another offset."""
    rows = [_row(number) for number in range(start, start + count)]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _row(number: int) -> dict:
    day = date(1965, 3, 1) + timedelta(days=(number * 37) % 21_000)
    moment = datetime(1968, 12, 31, 22, 30) + timedelta(minutes=(number * 7919) % 30_000_000, microseconds=number)
    values = {
        "num": (number * 31) % 2000 - 1000,
        "flag": number % 3 == 0,
        "ratio": (number % 50) / 8 - 2,
        "category": CATEGORIES[number % len(CATEGORIES)],
        "amount": Decimal(number * 1013 % 100_000 - 40_000) / 100,
        "day": day,
        "moment": moment,
        "seen": moment.replace(tzinfo=timezone.utc),
        "clock": (datetime(2000, 1, 1) + timedelta(seconds=number * 97, microseconds=number)).time(),
        "raw": bytes([number % 256, number % 7]),
        "key": UUID(int=(number % 40) << 96 | number % 40).bytes,
    }
    nulled = {name: None if (number + offset) % 7 == 0 else value for offset, (name, value) in enumerate(values.items())}
    return {"id": number, **nulled}

"""Rows as JSON that a reader in any language can make of its own values: every value exact, whatever types JSON has."""

import struct
from datetime import date, datetime, time, timezone
from decimal import Decimal

EPOCH_DAY = date(1970, 1, 1).toordinal()
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def canonical(value):
    """Whole numbers, days and microseconds since the epoch as digits, floating point by its bits, bytes as hexadecimal."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            # The two zeros are equal in SQL, and the engine keeps one of them in a dictionary.
            return "nan" if value != value else struct.pack(">d", value + 0.0).hex()
        case Decimal():
            return format(value, "f")
        case str():
            return value
        case bytes():
            return value.hex()
        case datetime():
            elapsed = (value if value.tzinfo else value.replace(tzinfo=timezone.utc)) - EPOCH
            return str((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds)
        case date():
            return str(value.toordinal() - EPOCH_DAY)
        case time():
            return str(((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond)
        case dict():
            return [canonical(each) for each in value.values()]
        case list() | tuple():
            return [canonical(each) for each in value]
    raise TypeError(f"no canonical form of {type(value).__name__}")

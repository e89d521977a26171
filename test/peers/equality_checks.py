"""What the comparison itself must find: a comparison that misses a difference would make every other check worthless."""

from datetime import datetime
from decimal import Decimal

import pyarrow as pa

from checks import Checks, expect
from equality import difference

checks = Checks()
NAN = float("nan")


def one(values, kind=None) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


def equal(left: pa.Table, right: pa.Table, **how) -> None:
    expect(difference(left, right, **how), None)


def different(left: pa.Table, right: pa.Table, **how) -> None:
    expect(difference(left, right, **how) is None, False, "reported as different")


@checks.check
def rows_are_a_multiset_unless_the_order_is_total():
    equal(one([1, 2, 2]), one([2, 1, 2]))
    different(one([1, 2, 2]), one([2, 1, 2]), ordered=True)
    different(one([1, 2, 2]), one([1, 1, 2]))
    different(one([1, 2]), one([1, 2, 2]))


@checks.check
def names_and_types_count():
    different(one([1]), pa.table({"y": [1]}))
    different(one([1], pa.int32()), one([1], pa.int64()))
    different(one([Decimal("1.0")], pa.decimal128(4, 1)), one([Decimal("1.0")], pa.decimal128(5, 1)))
    different(one([datetime(2020, 1, 1)], pa.timestamp("us")), one([datetime(2020, 1, 1)], pa.timestamp("us", "UTC")))
    equal(one(["a"], pa.string()), one(["a"], pa.large_string()))
    equal(one(["a"], pa.string()), one(["a"]).cast(pa.schema([("x", pa.dictionary(pa.int32(), pa.string()))])))
    different(one([{"a": 1}]), one([{"b": 1}]))


@checks.check
def values_count():
    different(one(["a", None]), one(["a", ""]))
    different(one([None, 1]), one([0, 1]))
    different(one([2**53]), one([2**53 + 1]))
    different(one([[1, 2]]), one([[2, 1]]))
    different(one([datetime(2020, 1, 1)]), one([datetime(2020, 1, 1, microsecond=1)]))


@checks.check
def floats_are_equal_within_the_tolerance_only():
    equal(one([1.0, 2.0]), one([2.0, 1.0]))
    different(one([1.0]), one([1.0 + 1e-15]))
    equal(one([1.0]), one([1.0 + 1e-13]), tolerance=1e-12)
    different(one([1.0]), one([1.0 + 1e-11]), tolerance=1e-12)
    equal(one([NAN, 1.0]), one([1.0, NAN]))
    different(one([NAN]), one([1.0]))
    left = pa.table({"f": [0.1, 0.2], "k": ["a", "b"]})
    equal(left, pa.table({"f": [0.2 + 1e-15, 0.1], "k": ["b", "a"]}), tolerance=1e-12)


checks.run()

"""The table that the programs of the documentation read: a few rows like those of the sample that a first start makes."""

from pyarrow_session import Session
from target import target_from_arguments

session = Session.open(target_from_arguments())
session.query("create schema if not exists samples")
session.query(
    "create table if not exists samples.flights as select timestamp '2001-01-01' + to_hours(range) as date,"
    " range % 200 as delay, 100 + range % 2000 as distance, chr((65 + range % 7)::integer) as origin,"
    " chr((70 + range % 5)::integer) as destination from range(10000)"
)
session.close()

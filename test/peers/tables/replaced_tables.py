"""Tables that the service replaced twice, read by pyiceberg: other columns and partitions, and the rows of before in their history."""

import re
import uuid
import warnings
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
from pyiceberg.table import StaticTable

from checks import Checks, expect
from equality import difference
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")
schema = f"replaced_{uuid.uuid4().hex[:8]}"
connection = adbc.connect(
    target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
)


def run(sql: str) -> pa.Table | None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table() if cursor.description else None


def pyiceberg_table(name: str) -> StaticTable:
    folder = Path(target.tables) / "warehouse" / schema / name / "metadata"
    versions = {
        int(found[1]): path for path in folder.iterdir() if (found := re.fullmatch(r"v(\d+)\.metadata\.json", path.name))
    }
    return StaticTable.from_metadata(f"file://{versions[max(versions)]}")


def replaced(version: int):
    def check():
        name = f"{schema}.replaced_v{version}"
        properties = f"TBLPROPERTIES ('format-version' = '{version}')"
        run(
            f"CREATE TABLE {name} PARTITIONED BY (day, bucket(4, id)) {properties} AS "
            "SELECT i AS id, DATE '2024-01-01' + (i % 3)::INTEGER AS day, 'old' AS text FROM range(50) r(i)"
        )
        run(f"CREATE OR REPLACE TABLE {name} (text DOUBLE, id BIGINT)")
        expect(pyiceberg_table(f"replaced_v{version}").scan().to_arrow().num_rows, 0)
        run(
            f"CREATE OR REPLACE TABLE {name} PARTITIONED BY (bucket(4, id), region) AS "
            "SELECT i % 2 AS region, i + 0.5 AS text, i AS id FROM range(60) r(i)"
        )
        run(f"INSERT INTO {name} VALUES (7, 8.5, 9)")
        table = pyiceberg_table(f"replaced_v{version}")
        expected = run(f"SELECT * FROM {name}")
        expect((expected.num_rows, table.metadata.format_version, len(table.metadata.snapshots)), (61, version, 4))
        expect(difference(expected, table.scan().to_arrow()), None, "pyiceberg")
        first = table.metadata.snapshots[0].snapshot_id
        before = table.scan(snapshot_id=first).to_arrow()
        expect(difference(run(f"SELECT * FROM {name} FOR VERSION AS OF {first}"), before), None, "history")
        expect(before.num_rows, 50)
        expect(len({field.field_id for each in table.metadata.schemas for field in each.fields}), 6)

    return check


run(f"CREATE SCHEMA {schema}")
for format_version in (1, 2):
    checks.add(f"replaced in format {format_version}", replaced(format_version))
checks.run()
connection.close()

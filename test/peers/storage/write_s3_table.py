"""Writes an Iceberg table to S3 with pyiceberg, and prints where it is and what pyiceberg itself reads of it.

Arguments: a folder of its own, and the server as JSON (endpoint, accessKeyId, secretAccessKey, bucket).
"""

import json
import sys

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import And, GreaterThanOrEqual, LessThan

FILES = 4
ROWS_PER_FILE = 50_000
ROWS_PER_GROUP = 10_000


def rows(start: int) -> pa.Table:
    ids = range(start, start + ROWS_PER_FILE)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([f"name {i * 7919 % 100_003} of {i}" for i in ids], pa.string()),
            "amount": pa.array([i / 8 for i in ids], pa.float64()),
            "note": pa.array([f"{i * 2654435761 % 2**32:032x}" for i in ids], pa.string()),
        }
    )


def main() -> None:
    folder, server = sys.argv[1], json.loads(sys.argv[2])
    catalog = SqlCatalog(
        "s3",
        uri=f"sqlite:///{folder}/catalog.sqlite",
        warehouse=f"s3://{server['bucket']}/warehouse",
        **{
            "s3.endpoint": server["endpoint"],
            "s3.access-key-id": server["accessKeyId"],
            "s3.secret-access-key": server["secretAccessKey"],
            "s3.region": "us-east-1",
        },
    )
    catalog.create_namespace("s")
    properties = {"write.parquet.row-group-limit": str(ROWS_PER_GROUP)}
    table = catalog.create_table("s.t", rows(0).schema, properties=properties)
    for file in range(FILES):
        table.append(rows(file * ROWS_PER_FILE))
    low, high = 61_000, 68_000
    read = table.scan(And(GreaterThanOrEqual("id", low), LessThan("id", high)), selected_fields=("id", "name")).to_arrow()
    print(
        json.dumps(
            {
                "metadataLocation": table.metadata_location,
                "low": low,
                "high": high,
                "count": read.num_rows,
                "ids": pc.sum(read["id"]).as_py(),
                "characters": pc.sum(pc.utf8_length(read["name"])).as_py(),
            }
        )
    )


main()

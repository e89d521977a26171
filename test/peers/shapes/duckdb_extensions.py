"""DuckDB with its Iceberg extension. Its signed extensions come from PyPI's wheels and are loaded by path: nothing is
downloaded when they are.
"""

import importlib.util
from pathlib import Path

import duckdb


def connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    # Each needs those before it.
    for name in ("httpfs", "avro", "iceberg"):
        package = Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
        connection.execute(f"LOAD '{package}/extensions/v{duckdb.__version__}/{name}.duckdb_extension'")
    connection.execute("SET TimeZone = 'UTC'")
    return connection

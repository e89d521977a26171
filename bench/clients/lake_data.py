"""TPC-H in an Iceberg REST catalog with vended credentials. Usage: lake_data.py URI TPCH_FOLDER.

The rows of TPCH_FOLDER (tpch_data.py) as `tpch.*`, one append for each data file there, and `tpch.lineitem_bymonth`,
partitioned by month(l_shipdate), in two. Tables that are there are left alone.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.transforms import MonthTransform

from tpch_data import NAMESPACE, TABLES, data_files

BY_MONTH = "lineitem_bymonth"


def load_lake(uri: str, folder: Path) -> None:
    catalog = load_catalog("rest", type="rest", uri=uri, **{"header.X-Iceberg-Access-Delegation": "vended-credentials"})
    catalog.create_namespace_if_not_exists(NAMESPACE)
    files = data_files(folder)
    for name in TABLES:
        load(catalog, name, [[path] for path in files[name]])
    parts = files["lineitem"]
    half = len(parts) // 2
    load(catalog, BY_MONTH, [parts[:half], parts[half:]], month_column="l_shipdate")


def load(catalog: Catalog, name: str, appends: list[list[str]], month_column: str | None = None) -> None:
    """Under another name until it has all rows."""
    if catalog.table_exists(f"{NAMESPACE}.{name}"):
        return
    unfinished = f"{NAMESPACE}.{name}_unfinished"
    if catalog.table_exists(unfinished):
        catalog.drop_table(unfinished)
    table = None
    for paths in appends:
        rows = pa.concat_tables(pq.read_table(path) for path in paths)
        if table is None:
            table = catalog.create_table(unfinished, schema=rows.schema, properties={"format-version": "2"})
            if month_column:
                with table.update_spec() as update:
                    update.add_field(month_column, MonthTransform(), f"{month_column}_month")
        table.append(rows)
    catalog.rename_table(unfinished, f"{NAMESPACE}.{name}")
    print(f"{NAMESPACE}.{name} is loaded", flush=True)


if __name__ == "__main__":
    load_lake(sys.argv[1], Path(sys.argv[2]))

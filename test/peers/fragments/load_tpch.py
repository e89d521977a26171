"""TPC-H in an Iceberg REST catalog, cut small. Usage: load_tpch.py URI TPCH_FOLDER ROWS.

The rows of TPCH_FOLDER (tpch_data.py) as `tpch.*`, one append for each data file there, in row groups of ROWS rows: a table
of this size has splits to divide only if its row groups are small.
"""

import sys
from pathlib import Path

import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog

from tpch_data import NAMESPACE, TABLES, data_files

uri, folder, rows = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
catalog = load_catalog("rest", type="rest", uri=uri, **{"header.X-Iceberg-Access-Delegation": "vended-credentials"})
catalog.create_namespace(NAMESPACE)
files = data_files(folder)
for name in TABLES:
    table = None
    for path in files[name]:
        part = pq.read_table(path)
        if table is None:
            properties = {"format-version": "2", "write.parquet.row-group-limit": rows}
            table = catalog.create_table(f"{NAMESPACE}.{name}", schema=part.schema, properties=properties)
        table.append(part)

"""Histories and file layouts: no rows, many snapshots, rewritten files, codecs, foreign files, metrics left out."""

from pathlib import Path
from urllib.parse import urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual
from pyiceberg.table import Table

from sample_rows import SCHEMA, sample_rows
from table_case import Filter, TableCase

DATA_CODECS = ["zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"]
MANIFEST_CODECS = ["gzip", "zstd", "snappy", "null"]
METRICS_MODES = ["none", "counts", "truncate(2)", "full"]


def write_empty(catalog: SqlCatalog, identifier: str) -> Table:
    return catalog.create_table(identifier, SCHEMA)


def write_emptied(catalog: SqlCatalog, identifier: str) -> Table:
    table = catalog.create_table(identifier, SCHEMA)
    table.append(sample_rows(20))
    table.delete(GreaterThanOrEqual("id", 0))
    return table


def write_many_snapshots(catalog: SqlCatalog, identifier: str) -> Table:
    """Appends, an overwrite by filter, a delete that rewrites files; small manifests are merged on the way."""
    properties = {"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "4"}
    table = catalog.create_table(identifier, SCHEMA, properties=properties)
    for start in range(0, 120, 10):
        table.append(sample_rows(10, start=start))
    table.overwrite(sample_rows(5, start=500), overwrite_filter=EqualTo("id", 3))
    table.delete(EqualTo("category", "north"))
    table.append(sample_rows(10, start=200))
    return table


def write_rolled_back(catalog: SqlCatalog, identifier: str) -> Table:
    """The current snapshot is not the newest one, and a tag and a branch name others."""
    table = catalog.create_table(identifier, SCHEMA)
    table.append(sample_rows(10))
    first = table.current_snapshot()
    table.append(sample_rows(10, start=10))
    second = table.current_snapshot()
    with table.manage_snapshots() as manage:
        manage.create_tag(second.snapshot_id, "before").create_branch(second.snapshot_id, "side")
    table.append(sample_rows(10, start=20))
    with table.manage_snapshots() as manage:
        manage.set_current_snapshot(first.snapshot_id)
    return catalog.load_table(identifier)


def write_v1(catalog: SqlCatalog, identifier: str) -> Table:
    table = catalog.create_table(identifier, SCHEMA, properties={"format-version": "1"})
    table.append(sample_rows(40))
    table.append(sample_rows(40, start=40))
    return table


def write_upgraded(catalog: SqlCatalog, identifier: str) -> Table:
    table = write_v1(catalog, identifier)
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    table.append(sample_rows(40, start=80))
    return table


def write_row_groups(catalog: SqlCatalog, identifier: str) -> Table:
    table = catalog.create_table(identifier, SCHEMA, properties={"write.parquet.row-group-limit": "50"})
    table.append(sample_rows(1000))
    return table


def write_with(properties: dict):
    def write(catalog: SqlCatalog, identifier: str) -> Table:
        table = catalog.create_table(identifier, SCHEMA, properties=properties)
        table.append(sample_rows(60))
        table.append(sample_rows(60, start=60))
        return table

    return write


def write_added_files(catalog: SqlCatalog, identifier: str) -> Table:
    """Parquet files of another writer, without field ids: columns are found by the table's name mapping.

    The second file has its columns in another order; a rename afterwards must reach both.
    """
    columns = [name for name in SCHEMA.names if name != "key"]  # add_files knows no UUIDs
    table = catalog.create_table(identifier, sample_rows(0).select(columns).schema)
    folder = Path(urlparse(table.location()).path) / "foreign"
    folder.mkdir(parents=True)
    files = {
        folder / "one.parquet": sample_rows(30).select(columns),
        folder / "two.parquet": sample_rows(30, start=30).select(columns[::-1]),
    }
    for path, rows in files.items():
        pq.write_table(rows, path, row_group_size=10)
    table.add_files([f"file://{path}" for path in files])
    with table.update_schema() as update:
        update.rename_column("category", "kind")
    return table


def write_pages(**layout):
    """Files of another writer in each codec, whose pages are laid out as told; all types that are read page by page."""

    def write(catalog: SqlCatalog, identifier: str) -> Table:
        rows = sample_rows(6000).drop_columns(["key"])  # add_files knows no UUIDs
        table = catalog.create_table(identifier, rows.schema)
        folder = Path(urlparse(table.location()).path) / "foreign"
        folder.mkdir(parents=True)
        files = [folder / f"{codec}.parquet" for codec in PAGE_CODECS]
        for number, path in enumerate(files):
            part = rows.slice(number * 1500, 1500)
            pq.write_table(part, path, compression=path.stem, row_group_size=1000, **layout)
        table.add_files([f"file://{path}" for path in files])
        return table

    return write


PAGE_CODECS = ["zstd", "snappy", "gzip", "none"]
PAGE_LAYOUTS = {
    "v1": {"data_page_version": "1.0"},
    "v2": {"data_page_version": "2.0"},
    "v1_small": {"data_page_version": "1.0", "data_page_size": 64, "write_batch_size": 16},
    "v2_small": {"data_page_version": "2.0", "data_page_size": 64, "write_batch_size": 16},
    "v1_plain": {"data_page_version": "1.0", "use_dictionary": False},
    "v2_plain": {"data_page_version": "2.0", "use_dictionary": False, "data_page_size": 512, "write_batch_size": 16},
    "integer_decimals": {"store_decimal_as_integer": True},
    "full_dictionary": {"dictionary_pagesize_limit": 100, "write_batch_size": 16},
    "delta": {"use_dictionary": False, "column_encoding": {"id": "DELTA_BINARY_PACKED", "category": "DELTA_BYTE_ARRAY"}},
    "page_index": {"write_page_index": True, "write_page_checksum": True},
}
PAGE_TABLES = [TableCase(f"pages_{name}", write_pages(**layout)) for name, layout in PAGE_LAYOUTS.items()]
CODEC_TABLES = [TableCase(f"data_codec_{codec}", write_with({"write.parquet.compression-codec": codec})) for codec in DATA_CODECS]
MANIFEST_TABLES = [TableCase(f"manifest_codec_{codec}", write_with({"write.avro.compression-codec": codec})) for codec in MANIFEST_CODECS]
METRICS_TABLES = [
    TableCase(
        f"metrics_{mode.rstrip(')').replace('(', '_')}",
        write_with({"write.metadata.metrics.default": mode}),
        (Filter("category = 'wester'"), Filter("category > 'ünïcode'"), Filter("id >= 100"), Filter("num is null")),
    )
    for mode in METRICS_MODES
]

LAYOUT_TABLES = [
    TableCase("empty", write_empty, (Filter("id = 1"),)),
    TableCase("emptied", write_emptied, (Filter("id = 1"),)),
    TableCase("many_snapshots", write_many_snapshots, (Filter("id = 200", prunes=True), Filter("category = 'north'"))),
    TableCase("rolled_back", write_rolled_back),
    TableCase("format_v1", write_v1, (Filter("id < 10", prunes=True),)),
    TableCase("format_upgraded", write_upgraded, (Filter("id > 100", prunes=True),)),
    TableCase(
        "row_groups",
        write_row_groups,
        (
            Filter("id = 777", prunes=True),
            Filter("id between 100 and 120", prunes=True),
            Filter("category = 'wet'"),
            Filter("moment < '1969-06-01T00:00:00'"),
        ),
    ),
    TableCase("added_files", write_added_files, (Filter("id < 5", prunes=True), Filter("kind = 'wet'"))),
    *PAGE_TABLES,
    *CODEC_TABLES,
    *MANIFEST_TABLES,
    *METRICS_TABLES,
]

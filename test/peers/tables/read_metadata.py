"""What the metadata tables of pyiceberg's tables answer equals what pyiceberg's own inspection says of them."""

import json
import warnings
from datetime import datetime

import adbc_driver_flightsql.dbapi as adbc
from pyiceberg.table import Table
from pyiceberg.types import BooleanType, IntegerType, LongType, StringType

from checks import Checks, expect
from table_case import TableCase, open_catalog
from target import target_from_arguments
from write_tables import ALL_TABLES

target = target_from_arguments()
checks = Checks()
warnings.simplefilter("ignore")
catalog = open_catalog(target.tables)
connection = adbc.connect(
    target.uri, db_kwargs={"username": target.username, "password": target.password}, autocommit=True
)

# A history, a layout, a schema or a partitioning of each kind.
TOLD_TABLES = {
    "empty",
    "emptied",
    "many_snapshots",
    "rolled_back",
    "format_v1",
    "format_upgraded",
    "added_files",
    "spec_month_then_day",
    "spec_identity_then_bucket",
    "spec_v1_dropped_field",
    "evolved_reorder",
    "evolved_nested_in_nested",
    "types_nested",
    "names_awkward",
}


def fetch(sql: str) -> list[dict]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [plain(row) for row in cursor.fetch_arrow_table().to_pylist()]


def rows_of(case: TableCase, kind: str, version: int | None = None) -> list[dict]:
    at = "" if version is None else f" FOR VERSION AS OF {version}"
    return fetch(f'SELECT * FROM lake.peers."{case.name}${kind}"{at}')


def plain(value):
    """Times without their zone, maps as dictionaries, and no difference between nothing and an empty map."""
    match value:
        case datetime():
            return value.replace(tzinfo=None)
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list() if value and isinstance(value[0], tuple):
            return {key: plain(item) for key, item in sorted(value)}
        case list():
            return [plain(item) for item in value] or None
    return value


def only(rows: list[dict], names: list[str]) -> list[tuple]:
    return sorted(tuple(json.dumps(row.get(name), default=str) for name in names) for row in rows)


def same(case: TableCase, kind: str, inspected, names: list[str]) -> int:
    actual = rows_of(case, kind)
    expect(only(actual, names), only([plain(row) for row in inspected.to_pylist()], names), kind)
    return len(actual)


def histories(case: TableCase):
    def check():
        table = catalog.load_table(case.identifier)
        inspect = table.inspect
        count = same(
            case,
            "snapshots",
            inspect.snapshots(),
            ["committed_at", "snapshot_id", "parent_id", "operation", "manifest_list", "summary"],
        )
        refs = ["name", "type", "snapshot_id", "max_reference_age_in_ms", "min_snapshots_to_keep", "max_snapshot_age_in_ms"]
        same(case, "refs", inspect.refs(), refs)
        if table.current_snapshot() is not None:
            same(
                case,
                "history",
                inspect.history(),
                ["made_current_at", "snapshot_id", "parent_id", "is_current_ancestor"],
            )
        log = ["timestamp", "file", "latest_snapshot_id", "latest_schema_id", "latest_sequence_number"]
        actual, expected = rows_of(case, "metadata_log_entries"), inspect.metadata_log_entries().to_pylist()
        for row in actual + expected:
            row["file"] = row["file"].rsplit("/", 1)[-1]
        expect(only(actual, log), only([plain(row) for row in expected], log), "metadata_log_entries")
        properties = {row["key"]: row["value"] for row in rows_of(case, "properties")}
        expect(properties, dict(table.properties), "properties")
        return f"{count} snapshots"

    return check


FILE = ["content", "file_path", "file_format", "record_count", "file_size_in_bytes", "column_sizes", "value_counts"]
FILE += ["null_value_counts", "nan_value_counts", "split_offsets", "equality_ids", "sort_order_id"]


def files(case: TableCase):
    """Of the first and the last snapshot: those of the manifests, and the bounds of columns that print the same everywhere."""

    def check():
        table = catalog.load_table(case.identifier)
        checked = 0
        some = [*{each.snapshot_id: each for each in [*table.snapshots()[:1], *table.snapshots()[-1:]]}.values()]
        for snapshot in some:
            expected = [
                entry.data_file
                for manifest in snapshot.manifests(table.io)
                for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
            ]
            actual = rows_of(case, "files", snapshot.snapshot_id)
            expect(only(actual, FILE), only([file_row(each) for each in expected], FILE), f"{snapshot.snapshot_id}")
            checked += len(actual)
        bounds(case, table)
        return f"{checked} files in {len(some)} snapshots"

    return check


def file_row(file) -> dict:
    row = {name: getattr(file, name) for name in FILE}
    return plain({**row, "content": int(file.content), "file_format": file.file_format.value}) | {
        name: dict(sorted((row[name] or {}).items())) or None for name in FILE if name.endswith(("_sizes", "_counts"))
    }


def bounds(case: TableCase, table: Table) -> None:
    if table.current_snapshot() is None:
        return
    rows = {row["file_path"]: row for row in rows_of(case, "files")}
    for file in table.scan().plan_files():
        row = rows[file.file.file_path]
        metrics = json.loads(row["readable_metrics"])
        for field in table.schema().fields:
            if not isinstance(field.field_type, IntegerType | LongType | StringType | BooleanType):
                continue
            for side in ["lower", "upper"]:
                wanted = bound_of(getattr(file.file, f"{side}_bounds"), field)
                text = str(wanted).lower() if isinstance(wanted, bool) else wanted if wanted is None else str(wanted)
                expect((row[f"{side}_bounds"] or {}).get(field.field_id), text, f"{field.name} {side}")
                expect(metrics[field.name][f"{side}_bound"], wanted, f"{field.name} {side}, readable")


def bound_of(known, field):
    from pyiceberg.conversions import from_bytes

    encoded = (known or {}).get(field.field_id)
    if encoded is None:
        return None
    kind = IntegerType() if isinstance(field.field_type, LongType) and len(encoded) == 4 else field.field_type
    return from_bytes(kind, encoded)


def partitions(case: TableCase):
    def check():
        table = catalog.load_table(case.identifier)
        if table.current_snapshot() is None:
            expect(rows_of(case, "partitions"), [], "partitions")
            return "none"
        expected: dict[str, list[int]] = {}
        for task in table.scan().plan_files():
            totals = expected.setdefault(str((task.file.spec_id, task.file.partition)), [0, 0, 0])
            for index, value in enumerate([task.file.record_count, 1, task.file.file_size_in_bytes]):
                totals[index] += value
        actual = rows_of(case, "partitions")
        names = ["record_count", "file_count", "total_size"]
        expect(sorted([row[name] for name in names] for row in actual), sorted(expected.values()), "partitions")
        manifests = ["path", "length", "partition_spec_id", "added_snapshot_id", "added_data_files_count"]
        manifests += ["existing_data_files_count", "deleted_data_files_count"]
        same(case, "manifests", table.inspect.manifests(), manifests)
        return f"{len(actual)} partitions"

    return check


for each in (each for each in ALL_TABLES if each.name in TOLD_TABLES):
    checks.add(f"{each.name}, histories", histories(each))
    checks.add(f"{each.name}, files", files(each))
    checks.add(f"{each.name}, partitions and manifests", partitions(each))

checks.run()
connection.close()

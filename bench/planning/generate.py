"""Writes a table of 10,000 data files as metadata only: planning never opens the data files, so there are none.

Usage: generate.py <folder> [files] [manifests]

The table `<folder>/bench/events` is partitioned by day(event_time), ten files a day, with statistics of 16 columns; its
manifests are written by pyiceberg itself. Prints the path of the metadata file.
"""
import json
import os
import struct
import sys
from datetime import datetime, timezone

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntryStatus, ManifestEntry
from pyiceberg.manifest import write_manifest, write_manifest_list
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.transforms import DayTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType

SNAPSHOT_ID = 4_611_686_018_427_387_905  # Above 2^53 on purpose.
FILES_PER_DAY = 10
ROWS_PER_FILE = 1_000_000
FIRST_DAY = 18_262  # 2020-01-01
MICROS_PER_DAY = 86_400_000_000


def schema() -> Schema:
    fields = [
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "event_time", TimestampType(), required=True),
    ]
    for column in range(3, 17):
        kind = [LongType(), DoubleType(), StringType()][column % 3]
        fields.append(NestedField(column, f"column_{column}", kind, required=False))
    return Schema(*fields)


def bounds(column: int, file: int, is_upper: bool) -> bytes:
    if column == 1:
        return struct.pack("<q", file * ROWS_PER_FILE + (ROWS_PER_FILE - 1 if is_upper else 0))
    if column == 2:
        day = FIRST_DAY + file // FILES_PER_DAY
        return struct.pack("<q", day * MICROS_PER_DAY + (MICROS_PER_DAY - 1 if is_upper else 0))
    kind = column % 3
    if kind == 0:
        return struct.pack("<q", column * 1000 + (999 if is_upper else 0))
    if kind == 1:
        return struct.pack("<d", column + (0.5 if is_upper else 0.25))
    return (f"value-{column}-z" if is_upper else f"value-{column}-a").encode()


def data_file(root: str, file: int, columns: range) -> DataFile:
    day = FIRST_DAY + file // FILES_PER_DAY
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{root}/data/event_time_day={day}/{file:05d}-0-5f2f1d0c-9e0f-4c6b-8d3c-{file:012x}.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(day),
        record_count=ROWS_PER_FILE,
        file_size_in_bytes=64 * 1024 * 1024 + file,
        column_sizes={column: 4 * 1024 * 1024 for column in columns},
        value_counts={column: ROWS_PER_FILE for column in columns},
        null_value_counts={column: 0 if column < 3 else file % 7 for column in columns},
        nan_value_counts={column: 0 for column in columns if column % 3 == 1},
        lower_bounds={column: bounds(column, file, False) for column in columns},
        upper_bounds={column: bounds(column, file, True) for column in columns},
        split_offsets=[4, 32 * 1024 * 1024],
        sort_order_id=0,
    )


def main() -> None:
    folder = os.path.abspath(sys.argv[1])
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    manifests = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    root = f"{folder}/bench/events"
    os.makedirs(f"{root}/metadata", exist_ok=True)
    table_schema = schema()
    columns = range(1, 17)
    spec = PartitionSpec(PartitionField(2, 1000, DayTransform(), "event_time_day"), spec_id=0)
    io = PyArrowFileIO()
    written = []
    per_manifest = files // manifests
    for number in range(manifests):
        output = io.new_output(f"{root}/metadata/manifest-{number:04d}.avro")
        with write_manifest(2, spec, table_schema, output, SNAPSHOT_ID, "deflate") as writer:
            for file in range(number * per_manifest, (number + 1) * per_manifest):
                entry = ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED, snapshot_id=SNAPSHOT_ID, data_file=data_file(root, file, columns)
                )
                writer.add_entry(entry)
        written.append(writer.to_manifest_file())
    list_location = f"{root}/metadata/snap-{SNAPSHOT_ID}.avro"
    with write_manifest_list(2, io.new_output(list_location), SNAPSHOT_ID, None, 1, "deflate") as writer:
        writer.add_manifests(written)
    now = int(datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp() * 1000)
    metadata = TableMetadataV2(
        location=root,
        table_uuid="2e1f7d5c-6d3b-4b5a-9a4e-0d1c2b3a4f5e",
        last_updated_ms=now,
        last_column_id=16,
        schemas=[table_schema],
        current_schema_id=table_schema.schema_id,
        partition_specs=[spec],
        default_spec_id=0,
        last_partition_id=1000,
        last_sequence_number=1,
        current_snapshot_id=SNAPSHOT_ID,
        snapshots=[
            Snapshot(
                snapshot_id=SNAPSHOT_ID,
                sequence_number=1,
                timestamp_ms=now,
                manifest_list=list_location,
                summary=Summary(Operation.APPEND, **{"total-data-files": str(files)}),
                schema_id=table_schema.schema_id,
            )
        ],
    )
    location = f"{root}/metadata/00001-{metadata.table_uuid}.metadata.json"
    with open(location, "w", encoding="utf-8") as target:
        target.write(json.dumps(json.loads(metadata.model_dump_json()), indent=1))
    print(location)


if __name__ == "__main__":
    main()

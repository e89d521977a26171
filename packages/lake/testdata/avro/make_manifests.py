"""Writes manifest-<codec>.avro beside this file: see ../README.md. Needs pyiceberg and pyarrow."""
import os
import struct
import zlib
from decimal import Decimal

import pyarrow
import pyiceberg.avro.file as avro_file
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus, write_manifest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, MonthTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DateType, DecimalType, LongType, NestedField, StringType


class Snappy:
    """Avro's snappy codec: the block, then the big-endian CRC-32 of what it decompresses to."""

    @staticmethod
    def compress(data):
        block = pyarrow.compress(data, codec="snappy", asbytes=True) + struct.pack(">I", zlib.crc32(data))
        return block, len(block)


SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType(), required=False),
    NestedField(3, "day", DateType(), required=False),
    NestedField(4, "price", DecimalType(9, 2), required=False),
)
SPEC = PartitionSpec(
    PartitionField(3, 1000, MonthTransform(), "day_month"),
    PartitionField(1, 1001, BucketTransform(16), "id_bucket"),
    PartitionField(2, 1002, IdentityTransform(), "name"),
    PartitionField(4, 1003, IdentityTransform(), "price"),
    spec_id=3,
)


def entry(number):
    name = [None, "Zoë", "plain"][number]
    data_file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file:///warehouse/t/data/{number}.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(600 + number, number, name, None if name is None else Decimal(-number).scaleb(-2)),
        record_count=1000 + number,
        file_size_in_bytes=4096 * (number + 1),
        column_sizes={1: 100, 2: 200},
        value_counts={1: 1000 + number, 2: 1000 + number},
        null_value_counts={1: 0, 2: 1000 if name is None else 0},
        nan_value_counts={},
        lower_bounds={1: struct.pack("<q", number * 1000)},
        upper_bounds={1: struct.pack("<q", number * 1000 + 999)},
        split_offsets=[4, 2048],
    )
    return ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=2**62 + 1, data_file=data_file)


def main():
    avro_file.KNOWN_CODECS["snappy"] = Snappy
    folder = os.path.dirname(os.path.abspath(__file__))
    for codec in ["null", "deflate", "snappy", "zstandard"]:
        output = PyArrowFileIO().new_output(f"{folder}/manifest-{codec}.avro")
        with write_manifest(2, SPEC, SCHEMA, output, 2**62 + 1, codec) as writer:
            for number in range(3):
                writer.add_entry(entry(number))


if __name__ == "__main__":
    main()

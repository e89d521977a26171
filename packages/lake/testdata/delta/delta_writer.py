"""Writes what delta-rs does not: deletion vectors, column mapping, checkpoints of version 2. By the protocol's text."""

import json
import os
import struct
import uuid
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

MAGIC = 1681511377
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def z85(data):
    data += b"\0" * (-len(data) % 4)
    letters = []
    for start in range(0, len(data), 4):
        (number,) = struct.unpack(">I", data[start : start + 4])
        letters.extend(Z85[number // 85**power % 85] for power in range(4, -1, -1))
    return "".join(letters)


def bitmap(positions, runs=False):
    rows = BitMap64(positions)
    if runs:
        rows.run_optimize()
    return struct.pack("<I", MAGIC) + rows.serialize()


def inline_vector(positions, runs=False):
    data = bitmap(positions, runs)
    return {
        "storageType": "i",
        "pathOrInlineDv": z85(data),
        "sizeInBytes": len(data),
        "cardinality": len(set(positions)),
    }


def stored_vectors(table, position_lists, prefix="", absolute=False, runs=False, name=None):
    """One file with all of the vectors; answers their descriptors."""
    name = name or uuid.uuid4()
    relative = os.path.join(prefix, f"deletion_vector_{name}.bin")
    content = b"\x01"
    descriptors = []
    for positions in position_lists:
        data = bitmap(positions, runs)
        descriptors.append(
            {
                "storageType": "p" if absolute else "u",
                "pathOrInlineDv": "file://" + os.path.join(os.path.abspath(table), relative)
                if absolute
                else prefix + z85(name.bytes),
                "offset": len(content),
                "sizeInBytes": len(data),
                "cardinality": len(set(positions)),
            }
        )
        content += struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    path = os.path.join(table, relative)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return descriptors


def protocol(*features):
    return {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": list(features),
            "writerFeatures": list(features),
        }
    }


def field(name, type_, id_=None, physical=None, nullable=True, **metadata):
    if id_ is not None:
        metadata["delta.columnMapping.id"] = id_
        metadata["delta.columnMapping.physicalName"] = physical
    return {"name": name, "type": type_, "nullable": nullable, "metadata": metadata}


def schema_of(*fields):
    return {"type": "struct", "fields": list(fields)}


def metadata(schema, partition_columns=(), **configuration):
    return {
        "metaData": {
            "id": "8d6a9bd1-5e3c-4b6e-9d7e-2f1c7f7a0001",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema),
            "partitionColumns": list(partition_columns),
            "configuration": configuration,
            "createdTime": 1700000000000,
        }
    }


def write_rows(table, name, rows, **options):
    """Writes a data file; answers an `add` action."""
    path = os.path.join(table, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(rows, path, **options)
    return {
        "add": {
            "path": name,
            "partitionValues": {},
            "size": os.path.getsize(path),
            "modificationTime": 1700000000000,
            "dataChange": True,
            "stats": json.dumps({"numRecords": rows.num_rows}),
        }
    }


def removed(added):
    keep = {key: added["add"][key] for key in ("path", "deletionVector") if key in added["add"]}
    return {"remove": {**keep, "deletionTimestamp": 1700000000000, "dataChange": True}}


def with_vector(added, descriptor):
    return {"add": {**added["add"], "deletionVector": descriptor}}


def log_path(table, name):
    folder = os.path.join(table, "_delta_log")
    os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
    return os.path.join(folder, name)


def write_commit(table, version, actions):
    with open(log_path(table, f"{version:020}.json"), "w") as file:
        file.writelines(json.dumps(action) + "\n" for action in actions)


STRINGS = pa.map_(pa.string(), pa.string())
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
ADD = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", STRINGS),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("deletionVector", VECTOR),
    ]
)
ACTIONS = {
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())),
            ("writerFeatures", pa.list_(pa.string())),
        ]
    ),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("name", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", STRINGS)])),
            ("schemaString", pa.string()),
            ("partitionColumns", pa.list_(pa.string())),
            ("configuration", STRINGS),
            ("createdTime", pa.int64()),
        ]
    ),
    "add": ADD,
    "remove": pa.struct([("path", pa.string()), ("deletionTimestamp", pa.int64()), ("dataChange", pa.bool_())]),
    "checkpointMetadata": pa.struct([("version", pa.int64())]),
    "sidecar": pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())]),
}


def write_actions(path, actions, kinds, **options):
    """A Parquet file of actions, one to a row."""
    columns = []
    for kind in kinds:
        columns.append(pa.array([as_arrow(action.get(kind)) for action in actions], ACTIONS[kind]))
    pq.write_table(pa.table(columns, names=list(kinds)), path, **options)


def as_arrow(value):
    if not isinstance(value, dict):
        return value
    maps = ("partitionValues", "configuration", "options")
    return {key: list(inner.items()) if key in maps else as_arrow(inner) for key, inner in value.items()}

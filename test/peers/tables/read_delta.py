"""Delta tables that delta-rs wrote, every version of them, and the hand-made ones of the lake's test data: read through our
storage, planning, staging and views (`test/lake/read-delta-main.ts`), they must have the rows that delta-rs finds."""

import importlib
import json
import os
import random
import subprocess
import sys

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from checks import Checks, expect
from target import target_from_arguments

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(root, "packages", "lake", "testdata", "delta"))
make = importlib.import_module("make")
from delta_writer import field, metadata, protocol, removed, schema_of, stored_vectors, with_vector, write_commit, write_rows

SEED = 20240229
VERSIONS = 24

target = target_from_arguments()
checks = Checks()
folder = os.path.join(target.tables, "delta")
other = make.second_reader()
reader = subprocess.Popen(
    ["node", os.path.join(root, "test", "dist", "lake", "read-delta-main.js")],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def ours(location, **request):
    reader.stdin.write(json.dumps({"location": location, **request}) + "\n")
    reader.stdin.flush()
    answer = json.loads(reader.stdout.readline())
    if "error" in answer:
        raise AssertionError(answer["error"])
    return answer


def hand_made(name):
    def check():
        table = os.path.join(folder, name)
        make.TABLES[name](table)
        rows = make.expected_rows(other, name, table)
        expect(ours(table)["rows"], rows)
        return f"{len(rows)} rows"

    return check


def random_rows(generator, start, count):
    ids = list(range(start, start + count))
    numbers = [generator.choice([None, -(2**63), 2**63 - 1, generator.randrange(-1000, 1000)]) for _ in ids]
    return pa.table(
        {
            "id": pa.array(ids),
            "number": pa.array(numbers, pa.int64()),
            "text": pa.array([generator.choice([None, "", "ü💥" * 20, f"t{i}"]) for i in ids]),
            "part": pa.array([generator.choice([None, "a", "b/c %"]) for _ in ids]),
            "day": pa.array([generator.choice([None, 0, 19000 + i % 9]) for i in ids], pa.date32()),
        }
    )


def change(generator, table, version):
    """One commit, of a kind that chance picks."""
    kind = generator.choice(["append", "append", "delete", "update", "compact", "checkpoint"])
    low = generator.randrange(0, 50 * VERSIONS)
    if kind == "delete":
        DeltaTable(table).delete(f"id % 7 = {low % 7}" if generator.random() < 0.5 else f"id < {low} and part = 'a'")
    elif kind == "update":
        DeltaTable(table).update(predicate=f"id > {low}", updates={"text": "concat(text, '!')"})
    elif kind == "compact":
        DeltaTable(table).optimize.compact()
    else:
        write_deltalake(table, random_rows(generator, version * 50, 50), mode="append")
    if kind == "checkpoint":
        DeltaTable(table).create_checkpoint()
    return kind


@checks.check
def every_version_of_a_table_that_changed_at_random():
    generator = random.Random(SEED)
    table = os.path.join(folder, "random")
    write_deltalake(table, random_rows(generator, 0, 50), partition_by=["part"])
    kinds = [change(generator, table, version) for version in range(1, VERSIONS)]
    last = DeltaTable(table).version()
    for version in range(last + 1):
        rows = make.rows_of_delta_rs(other, table, version)
        expect(ours(table, version=version)["rows"], rows, f"version {version} ({kinds}, seed {SEED})")
    return f"{last + 1} versions, seed {SEED}"


@checks.check
def filters_prune_and_change_no_row():
    table = os.path.join(folder, "random")
    pruned = 0
    for low in range(0, 50 * VERSIONS, 70):
        answer = ours(table, column="id", low=low, high=low + 40)
        expected = [row for row in make.rows_of_delta_rs(other, table) if low <= json.loads(row)["id"] < low + 40]
        expect(answer["rows"], expected, f"{low} to {low + 40}")
        pruned += answer["filesPruned"]
    expect(pruned > 0, True, "files pruned")
    return f"{pruned} files pruned"


@checks.check
def a_deletion_vector_at_an_absolute_path():
    table = os.path.join(folder, "absolute")
    added = write_rows(table, "f 1.parquet".replace(" ", "%20"), make.numbers(0, 100))
    os.rename(os.path.join(table, "f%201.parquet"), os.path.join(table, "f 1.parquet"))
    first, second = stored_vectors(table, [[99], [0, 50]], absolute=True)
    schema = schema_of(field("id", "long"), field("text", "string"))
    write_commit(table, 0, [protocol("deletionVectors"), metadata(schema), with_vector(added, first)])
    write_commit(table, 1, [removed(with_vector(added, first)), with_vector(added, second)])
    rows = make.rows_of_delta_rs(other, table)
    expect(len(rows), 98, "rows of delta-rs")
    expect(ours(table)["rows"], rows)


for name in make.TABLES:
    checks.add(f"table {name}", hand_made(name))

try:
    os.makedirs(folder, exist_ok=True)
    checks.run()
finally:
    reader.stdin.close()
    reader.wait(timeout=30)

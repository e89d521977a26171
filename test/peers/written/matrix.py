"""What the service writes for other readers: each type of Iceberg with each transform that takes it, in both format versions.

This list is the whole of it. `write_matrix.py` writes the tables, and `read_by_*` read them: pyiceberg 0.11.1, DuckDB 1.5.5
and Iceberg Java 1.11.0. A reader's own fault is named here with its reason: its rows are compared all the same.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Reader = Literal["pyiceberg", "java", "duckdb"]
FORMAT_VERSIONS = (1, 2)
#: Each table gets its rows by so many INSERTs, each with its own third of the values: files can be told apart by bounds.
INSERTS = 3
ROWS_PER_INSERT = 40


@dataclass(frozen=True)
class Fault:
    """What a reader does wrong.

    With an equality on the column:
    `prunes not`: it reads every file. `wrong rows`: it leaves out files that have such rows. `fails`: with `text`.
    Always:
    `misreads`: it fails, or reads other values than were written.
    """

    reader: Reader
    what: Literal["prunes not", "wrong rows", "fails", "misreads"]
    reason: str
    #: Of which tables: the names of transforms, or "none" for those without. Empty for all.
    transforms: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    #: As SQL, in the order of the type. NULL is among the rows beside them.
    values: tuple[str, ...]
    #: The one that equalities ask for.
    wanted: str
    #: All that take the type; `v` is identity. Beside these there are a table without partitions, and one by void.
    transforms: tuple[str, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def query_type(self) -> str:
        """Queries know no FIXED."""
        return re.sub(r"^FIXED.*", "BLOB", self.type)

    @property
    def wanted_sql(self) -> str:
        return f"CAST({self.wanted} AS {self.query_type})"


def hexadecimal(*digits: str) -> tuple[str, ...]:
    return tuple(f"unhex('{each}')" for each in digits)


def texts(*values: str) -> tuple[str, ...]:
    return tuple("'" + value.replace("'", "''") + "'" for value in values)


BUCKET = "bucket(16, v)"
TIMES = ("v", "year(v)", "month(v)", "day(v)", "hour(v)", BUCKET)
#: In paths of other writers such values would be escaped.
NAMES = ("", " ", "%2F", "'quoted' \"name\"", "..", "/", "__HIVE_DEFAULT_PARTITION__", "a\nb", "a b", "a/b=c%d", "null", "süd", "東京🦆")
#: Longer than the 16 characters that bounds are cut to, the last two of a character that cannot be raised.
LONG = ("p" * 20 + "a", "p" * 20 + "b", "süd" * 700, "\U0010ffff" * 20, "\U0010ffff" * 20 + "z")

COLUMNS = (
    Column("boolean", "BOOLEAN", ("false", "true"), wanted="true", transforms=("v",)),
    Column(
        "int",
        "INTEGER",
        ("-2147483648", "-6", "-1", "0", "1", "5", "2147483647"),
        wanted="-1",
        transforms=("v", BUCKET),
    ),
    # Smaller ones than a multiple of the width are refused: the multiple below them is no INTEGER.
    Column(
        "truncated_int",
        "INTEGER",
        ("-2147483645", "-6", "-1", "0", "1", "5", "2147483647"),
        wanted="-1",
        transforms=("truncate(5, v)",),
    ),
    Column(
        "long",
        "BIGINT",
        ("-9223372036854775808", "-7000000000", "-1", "0", "1", "4000000000", "9223372036854775807"),
        wanted="4000000000",
        transforms=("v", BUCKET),
    ),
    Column(
        "truncated_long",
        "BIGINT",
        ("-9223372036854775805", "-7000000000", "-1", "0", "1", "4000000000", "9223372036854775807"),
        wanted="-1",
        transforms=("truncate(5, v)",),
    ),
    Column(
        "float",
        "REAL",
        texts("-inf", "-3.4028235e38", "-0.5", "-0.0", "0", "1.4e-45", "1.5", "3.4028235e38", "inf", "nan"),
        wanted="1.5",
        transforms=("v",),
    ),
    Column(
        "double",
        "DOUBLE",
        texts("-inf", "-1.7976931348623157e308", "-0.1", "-0.0", "0", "5e-324", "0.1", "1.7976931348623157e308", "inf", "nan"),
        wanted="-0.1",
        transforms=("v",),
        faults=(Fault("pyiceberg", "wrong rows", "its compiled Avro decoder narrows partition values to 32 bits", ("identity",)),),
    ),
    Column(
        "decimal_int",
        "DECIMAL(9, 2)",
        ("-9999999.99", "-1.28", "0", "0.01", "12.5", "9999999.99"),
        wanted="-1.28",
        transforms=("v", BUCKET, "truncate(100, v)"),
        faults=(
            Fault("pyiceberg", "wrong rows", "hashes -128, -32768 and the like with a byte too many", ("bucket",)),
            Fault("duckdb", "fails", "truncates negative decimals of 32 bits as if they had no sign", ("truncate",), "Information loss on integer cast"),
        ),
    ),
    Column(
        "decimal_long",
        "DECIMAL(18, 4)",
        ("-99999999999999.9999", "-1.25", "0", "0.0001", "12.5", "99999999999999.9999"),
        wanted="-1.25",
        transforms=("v", BUCKET, "truncate(100, v)"),
    ),
    Column(
        "decimal_bytes",
        "DECIMAL(38, 10)",
        (f"-{'9' * 28}.{'9' * 10}", "-1.25", "0", "0.0000000001", "12345678901234567890.5", f"{'9' * 28}.{'9' * 10}"),
        wanted="12345678901234567890.5",
        transforms=("v", BUCKET, "truncate(100, v)"),
        faults=(Fault("duckdb", "wrong rows", "truncates decimals wrongly whose digits do not fit 64 bits", ("truncate",)),),
    ),
    Column(
        "date",
        "DATE",
        texts("0001-01-01", "1968-11-20", "1969-12-31", "1970-01-01", "1999-12-31", "2024-02-29", "9999-12-31"),
        wanted="'1969-12-31'",
        transforms=("v", "year(v)", "month(v)", "day(v)", BUCKET),
    ),
    Column(
        "time",
        "TIME",
        texts("00:00:00", "00:00:00.000001", "10:11:12", "10:11:12.5", "23:59:59.999999"),
        wanted="'10:11:12.5'",
        transforms=("v", BUCKET),
    ),
    Column(
        "timestamp",
        "TIMESTAMP",
        texts(
            "0001-01-01 00:00:00",
            "1969-12-31 20:00:00",
            "1969-12-31 23:59:59.999999",
            "1970-01-01 00:00:00",
            "2024-02-29 12:30:00.5",
            "2024-02-29 13:00:00",
            "9999-12-31 23:59:59.999999",
        ),
        wanted="'1969-12-31 23:59:59.999999'",
        transforms=TIMES,
        faults=(Fault("duckdb", "wrong rows", "takes a moment before 1970 for one of the next day, except at midnight", ("month", "day")),),
    ),
    Column(
        "timestamptz",
        "TIMESTAMPTZ",
        texts(
            "0001-01-01 00:00:00+00",
            "1969-12-31 20:00:00+00",
            "1969-12-31 23:59:59.999999+00",
            "1970-01-01 00:00:00+00",
            "2024-02-29 12:30:00.5+00",
            "2024-03-01 01:00:00+02",
            "9999-12-31 23:59:59.999999+00",
        ),
        wanted="'2024-02-29 12:30:00.5+00'",
        transforms=TIMES,
    ),
    Column("string", "VARCHAR", texts(*sorted(NAMES)), wanted="'a/b=c%d'", transforms=("v", BUCKET, "truncate(2, v)")),
    Column(
        "long_string",
        "VARCHAR",
        texts(*LONG),
        wanted="repeat('süd', 700)",
        transforms=("v", BUCKET, "truncate(2, v)", "truncate(100, v)"),
    ),
    # Not all readers order the two in the middle alike: a file with both has no bounds.
    Column(
        "uuid",
        "UUID",
        texts(
            "00000000-0000-4000-8000-000000000000",
            "1234abcd-0000-4000-8000-000000000001",
            "7fffffff-ffff-4fff-bfff-ffffffffffff",
            "80000000-0000-4000-8000-000000000000",
            "f79c3e09-677c-4bbd-a479-3f349cb785e7",
            "ffffffff-ffff-4fff-bfff-ffffffffffff",
        ),
        wanted="'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        transforms=("v", BUCKET),
        faults=(
            Fault("pyiceberg", "wrong rows", "compares partition values that are UUIDs with bytes", ("identity",)),
            Fault("duckdb", "wrong rows", "hashes UUIDs otherwise than as their 16 bytes", ("bucket",)),
        ),
    ),
    Column(
        "fixed",
        "FIXED(5)",
        hexadecimal("0000000000", "0001020304", "7fffffffff", "8000000000", "ffffffffff"),
        wanted="unhex('8000000000')",
        transforms=("v", BUCKET),
        faults=(
            Fault(
                "java",
                "misreads",
                "reads fixed partition values of manifests as bytes with a length in front, which its own writer does not write",
                ("identity",),
            ),
        ),
    ),
    Column(
        "binary",
        "BLOB",
        hexadecimal("", "00", "0001", "61622f63", "80", "ff" * 20, "ff" * 20 + "00"),
        wanted="unhex('61622f63')",
        transforms=("v", BUCKET, "truncate(2, v)"),
    ),
)

#: Columns beside that of the type in every table: all kinds of nesting.
BESIDE = {
    "nested": (
        "STRUCT(a INTEGER, b VARCHAR[], f FIXED(2))",
        "CASE WHEN i % 3 > 0 THEN {'a': i::INTEGER, 'b': CASE WHEN i % 5 > 0 THEN ['x', NULL] END, 'f': unhex(printf('%04x', i))} END",
    ),
    "pairs": ("MAP(VARCHAR, DOUBLE)", "MAP(['k' || i % 4, 'nothing'], [i / 2.0, NULL])"),
}


@dataclass(frozen=True)
class TableCase:
    name: str
    #: As CREATE TABLE has them.
    columns: str
    #: What PARTITIONED BY has in its parentheses.
    partitioned: str | None
    version: int
    #: One for each INSERT.
    queries: tuple[str, ...]
    #: A column, or a field in a struct, and the value that rows are asked for by.
    column: str
    wanted: str
    #: Tables of one group have the same rows.
    group: str
    faults: tuple[Fault, ...] = ()


def table_cases() -> Iterator[TableCase]:
    for column in COLUMNS:
        for version in FORMAT_VERSIONS:
            for transform in (None, *column.transforms, "void(v)"):
                yield matrix_table(column, transform, version)
    for version in FORMAT_VERSIONS:
        yield from other_tables(version)


def matrix_table(column: Column, transform: str | None, version: int) -> TableCase:
    kind = kind_of(transform)
    width = re.search(r"\d+", transform or "")
    beside = ", ".join(f"{name} {kind}" for name, (kind, _) in BESIDE.items())
    return TableCase(
        name=f"{column.name}_{kind}{width[0] if width else ''}_v{version}",
        columns=f"id BIGINT NOT NULL, v {column.type}, {beside}",
        partitioned=transform,
        version=version,
        queries=tuple(column_query(column, number) for number in range(INSERTS)),
        column="v",
        wanted=column.wanted_sql,
        group=column.name,
        faults=tuple(each for each in column.faults if not each.transforms or kind in each.transforms),
    )


def kind_of(transform: str | None) -> str:
    """The transform's name; `identity` of a column alone, `none` without partitions."""
    if transform is None:
        return "none"
    return "identity" if transform == "v" else transform.split("(")[0]


def column_query(column: Column, number: int) -> str:
    count = len(column.values)
    part = column.values[number * count // INSERTS : (number + 1) * count // INSERTS] or column.values
    values = ", ".join(f"CAST({value} AS {column.query_type})" for value in part)
    beside = ", ".join(f"{sql} AS {name}" for name, (_, sql) in BESIDE.items())
    start = number * ROWS_PER_INSERT
    value = f"CASE WHEN i % 11 > 0 THEN ([{values}])[i % {len(part)} + 1] END"
    return f"SELECT i AS id, {value} AS v, {beside} FROM range({start}, {start + ROWS_PER_INSERT}) r(i)"


def other_tables(version: int) -> Iterator[TableCase]:
    """What the matrix has no place for: all types within structs, lists and maps; several fields; many snapshots; names."""
    fields = ", ".join(f"{each.name} {each.type}" for each in COLUMNS)
    values = ", ".join(f"'{each.name}': CAST({each.wanted} AS {each.query_type})" for each in COLUMNS)
    struct = "CASE WHEN i % 4 > 0 THEN {" + values + "} END"
    yield TableCase(
        name=f"within_v{version}",
        columns="id BIGINT NOT NULL, place STRUCT(region VARCHAR, number INTEGER), "
        f"one STRUCT({fields}), many STRUCT({fields})[], named MAP(INTEGER, STRUCT({fields}))",
        partitioned=None,
        version=version,
        queries=tuple(
            f"SELECT i AS id, {{'region': 'r' || i // 20, 'number': i::INTEGER}} AS place, {struct} AS one, "
            f"[{struct}, NULL] AS many, MAP([i::INTEGER, -1], [{struct}, NULL]) AS named FROM range({start}, {start + 20}) r(i)"
            for start in (0, 20)
        ),
        column="place.region",
        wanted="'r1'",
        group="within",
        faults=(Fault("duckdb", "prunes not", "filters on fields of structs do not reach its Iceberg scans"),),
    )
    yield TableCase(
        name=f"null_lists_v{version}",
        columns="id BIGINT NOT NULL, many STRUCT(a INTEGER)[]",
        partitioned=None,
        version=version,
        queries=tuple(
            f"SELECT i AS id, CASE WHEN i % 7 > 0 THEN [{{'a': i::INTEGER}}, NULL] END AS many FROM range({start}, {start + 20}) r(i)"
            for start in (0, 20)
        ),
        column="id",
        wanted="25",
        group="null_lists",
        faults=(Fault("pyiceberg", "misreads", "reads NULL as an empty list where elements are structs"),),
    )
    yield TableCase(
        name=f"several_fields_v{version}",
        columns="id BIGINT NOT NULL, at TIMESTAMP, region VARCHAR, amount DECIMAL(12, 2)",
        partitioned="year(at), bucket(3, id), truncate(1, region), amount",
        version=version,
        queries=tuple(
            f"SELECT i AS id, TIMESTAMP '2023-11-01' + to_days((i * 7)::INTEGER) AS at, ['north', 'südost', NULL][i % 3 + 1] AS region, "
            f"(i % 4 / 4)::DECIMAL(12, 2) AS amount FROM range({start}, {start + 40}) r(i)"
            for start in (0, 40)
        ),
        column="region",
        wanted="'südost'",
        group="several_fields",
    )
    yield TableCase(
        name=f"snapshots_v{version}",
        columns="id BIGINT NOT NULL, region VARCHAR",
        partitioned="region",
        version=version,
        queries=tuple(
            f"SELECT i AS id, ['north', 'south', NULL][i % 3 + 1] AS region FROM range({start}, {start + 2}) r(i)"
            for start in range(0, 24, 2)
        ),
        column="region",
        wanted="'south'",
        group="snapshots",
    )
    yield TableCase(
        name=f"names_v{version}",
        columns='"the id" BIGINT NOT NULL, "größe in %" INTEGER, "a""b" VARCHAR, "select" STRUCT("x y" INTEGER)',
        partitioned='truncate(10, "größe in %"), "a""b"',
        version=version,
        queries=tuple(
            f"""SELECT i AS "the id", (i * 3)::INTEGER AS "größe in %", 'x' || i % 2 AS "a""b", """
            f"""{{'x y': i::INTEGER}} AS "select" FROM range({start}, {start + 10}) r(i)"""
            for start in (0, 10)
        ),
        column="größe in %",
        wanted="9",
        group="names",
    )

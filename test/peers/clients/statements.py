"""SQL that several clients run: long ones, large ones, and ones that must be refused."""

TABLE = "lake.peers.row_groups"

#: Rows without end, from the first moment on: a thousand million of them.
ENDLESS_ROWS = f"select a.*, b.id as other from {TABLE} a, {TABLE} b, {TABLE} c"

#: Computes for hours before its only row.
ENDLESS_WORK = (
    f"select count(*) from {TABLE} a, {TABLE} b, {TABLE} c, {TABLE} d where (a.id * b.id + c.id * d.id) % 1000003 = 17"
)

#: A million rows with a known sum.
MILLION_ROWS = f"select a.id * 1000 + b.id as n from {TABLE} a, {TABLE} b"
MILLION_SUM = 999_999 * 1_000_000 // 2

#: Statement, and the codes one of which the refusal must name.
REFUSED = {
    "a file as a table": ("select * from '/etc/passwd'", ["TABLE_REFERENCE_NOT_ALLOWED"]),
    "a quoted file as a table": ('select * from "/etc/passwd"', ["TABLE_REFERENCE_NOT_ALLOWED", "TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND"]),
    "a parquet file as a table": ("select * from 'x.parquet'", ["TABLE_REFERENCE_NOT_ALLOWED"]),
    "read_text": ("select * from read_text('/etc/passwd')", ["FUNCTION_NOT_ALLOWED", "TABLE_REFERENCE_NOT_ALLOWED"]),
    "read_csv in a subquery": (
        "select 1 where exists (select * from read_csv('/etc/passwd'))",
        ["FUNCTION_NOT_ALLOWED", "TABLE_REFERENCE_NOT_ALLOWED"],
    ),
    "read_text, quoted": (
        "select * from \"read_text\"('/etc/passwd')",
        ["FUNCTION_NOT_ALLOWED", "TABLE_REFERENCE_NOT_ALLOWED"],
    ),
    "glob": ("select * from glob('/etc/*')", ["FUNCTION_NOT_ALLOWED", "TABLE_REFERENCE_NOT_ALLOWED"]),
    "read_blob as a scalar": ("select read_blob('/etc/passwd')", ["FUNCTION_NOT_ALLOWED", "BINDING_ERROR"]),
    "getenv": ("select getenv('HOME')", ["FUNCTION_NOT_ALLOWED"]),
    "current_setting": ("select current_setting('temp_directory')", ["FUNCTION_NOT_ALLOWED"]),
    "a system table": ("select * from duckdb_settings()", ["FUNCTION_NOT_ALLOWED", "TABLE_REFERENCE_NOT_ALLOWED"]),
    "information_schema of the engine": (
        "select * from sqlite_master",
        ["TABLE_REFERENCE_NOT_ALLOWED", "TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND"],
    ),
    "copy to a file": (f"copy (select 1) to '/tmp/x.csv'", ["STATEMENT_NOT_ALLOWED"]),
    "copy from a file": (f"copy {TABLE} from '/etc/passwd'", ["STATEMENT_NOT_ALLOWED"]),
    "attach": ("attach '/tmp/other.db' as other", ["STATEMENT_NOT_ALLOWED"]),
    "attach in memory": ("attach ':memory:' as other", ["STATEMENT_NOT_ALLOWED"]),
    "install": ("install httpfs", ["STATEMENT_NOT_ALLOWED"]),
    "load": ("load '/tmp/x.so'", ["STATEMENT_NOT_ALLOWED"]),
    "pragma": ("pragma database_list", ["STATEMENT_NOT_ALLOWED"]),
    "export": ("export database '/tmp/x'", ["STATEMENT_NOT_ALLOWED"]),
    "set memory_limit": ("set memory_limit = '100GB'", ["STATEMENT_NOT_ALLOWED", "INVALID_ARGUMENT", "PERMISSION_DENIED"]),
    "set variable": ("set variable x = 1", ["STATEMENT_NOT_ALLOWED"]),
    "create secret": ("create secret (type s3, key_id 'x', secret 'y')", ["STATEMENT_NOT_ALLOWED"]),
    "create macro": ("create macro f(x) as x + 1", ["STATEMENT_NOT_ALLOWED", "NOT_SUPPORTED"]),
    "a second statement behind the first": ("select 1; copy (select 1) to '/tmp/x.csv'", []),
    "range without end": ("select len(range(200000000))", ["FUNCTION_NOT_ALLOWED", "OUT_OF_MEMORY"]),
    "repeat without end": ("select repeat('x', 4000000000)", ["FUNCTION_NOT_ALLOWED", "OUT_OF_MEMORY"]),
    "an unknown table": ("select * from lake.peers.no_such_table", ["TABLE_NOT_FOUND"]),
    "an unknown schema": ("select * from lake.nowhere.t", ["SCHEMA_NOT_FOUND", "TABLE_NOT_FOUND"]),
    "an unknown catalog": ("select * from elsewhere.peers.t", ["CATALOG_NOT_FOUND"]),
    "an unknown column": (f"select nope from {TABLE}", ["BINDING_ERROR"]),
    "no SQL at all": ("selec 1", ["SYNTAX_ERROR"]),
    "nothing": ("", ["SYNTAX_ERROR"]),
    "a comment only": ("-- nothing", ["SYNTAX_ERROR"]),
    "a NUL": ("select 'a\x00b'", []),
    "a failing cast": ("select cast('x' as integer)", ["EVALUATION_ERROR", "BINDING_ERROR"]),
    "ten megabytes": ("select '" + "x" * 10_000_000 + "'", ["STATEMENT_TOO_LARGE"]),
    "ten thousand parentheses": ("select " + "(" * 10_000 + "1" + ")" * 10_000, ["STATEMENT_TOO_LARGE", "SYNTAX_ERROR"]),
    "ten thousand subqueries": (
        "select * from " + "(select * from " * 10_000 + TABLE + ")" * 10_000,
        ["STATEMENT_TOO_LARGE", "SYNTAX_ERROR"],
    ),
}

"""ADBC (adbc-driver-flightsql, through its DB-API) against the service."""

import threading
import time
from datetime import date, datetime, timezone
from decimal import Decimal

import adbc_driver_flightsql.dbapi as adbc
import adbc_driver_manager
import pyarrow as pa
import pyarrow.compute as pc
from adbc_driver_flightsql import ConnectionOptions, DatabaseOptions

from checks import FREE_SECONDS, Checks, expect, raises, wait_until
from statements import ENDLESS_ROWS, ENDLESS_WORK, MILLION_ROWS, MILLION_SUM, REFUSED, TABLE
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()

#: What ADBC raises for the status that a code travels as.
ERROR_CLASSES = {
    "SYNTAX_ERROR": adbc.ProgrammingError,
    "TABLE_NOT_FOUND": adbc.ProgrammingError,
    "TABLE_REFERENCE_NOT_ALLOWED": adbc.ProgrammingError,
    "FUNCTION_NOT_ALLOWED": adbc.ProgrammingError,
    "STATEMENT_NOT_ALLOWED": adbc.ProgrammingError,
    "BINDING_ERROR": adbc.ProgrammingError,
}

PARAMETERS = {
    "boolean": (True, "boolean"),
    "integer": (7, "integer"),
    "bigint": (2**62, "bigint"),
    "double": (0.25, "double"),
    "text": ("snow ☃", "varchar"),
    "empty text": ("", "varchar"),
    "bytes": (b"\x00\xff", "blob"),
    "date": (date(1969, 12, 31), "date"),
    "timestamp": (datetime(2020, 2, 29, 1, 2, 3, 456789), "timestamp"),
    "decimal": (Decimal("-1.25"), "decimal(10, 2)"),
}


def database_options(**more) -> dict:
    options = dict(more)
    if target.tls_roots:
        options[DatabaseOptions.TLS_ROOT_CERTS.value] = target.tls_roots
    return options


def connect(connection_options: dict | None = None, **more) -> adbc.Connection:
    options = database_options(username=target.username, password=target.password, **more)
    return adbc.connect(target.uri, db_kwargs=options, conn_kwargs=connection_options, autocommit=True)


connection = connect()


def fetch(sql: str, parameters=None, using=None) -> pa.Table:
    with (using or connection).cursor() as cursor:
        cursor.execute(sql, parameters)
        table = cursor.fetch_arrow_table()
        table.validate(full=True)
        return table


def value(sql: str, parameters=None, using=None) -> object:
    return fetch(sql, parameters, using).column(0)[0].as_py()


def nothing_runs() -> bool:
    return target.active_queries() == 0


@checks.check
def user_and_password_sign_in():
    expect(value("select 42"), 42)


@checks.check
def an_authorization_header_signs_in():
    import pyarrow.flight as flight

    roots = {"tls_root_certs": target.tls_roots.encode()} if target.tls_roots else {}
    with flight.FlightClient(target.uri, **roots) as client:
        _, bearer = client.authenticate_basic_token(target.username, target.password)
    options = database_options(**{DatabaseOptions.AUTHORIZATION_HEADER.value: bearer.decode()})
    with adbc.connect(target.uri, db_kwargs=options, autocommit=True) as other:
        expect(value("select 42", using=other), 42)


@checks.check
def a_wrong_password_is_refused():
    options = database_options(username=target.username, password="wrong")
    with raises(adbc.ProgrammingError, "UNAUTHENTICATED"):
        with adbc.connect(target.uri, db_kwargs=options, autocommit=True) as refused:
            value("select 1", using=refused)


@checks.check
def no_credentials_are_refused():
    with raises(adbc.ProgrammingError, "UNAUTHENTICATED"):
        with adbc.connect(target.uri, db_kwargs=database_options(), autocommit=True) as refused:
            value("select 1", using=refused)


@checks.check
def cookies_are_optional():
    with connect(**{DatabaseOptions.WITH_COOKIE_MIDDLEWARE.value: "true"}) as other:
        expect(value("select 42", using=other), 42)


@checks.check
def the_default_without_autocommit_still_reads():
    options = database_options(username=target.username, password=target.password)
    with adbc.connect(target.uri, db_kwargs=options) as other:
        expect(value("select 42", using=other), 42)


@checks.check
def rows_are_fetched_as_python_values():
    with connection.cursor() as cursor:
        cursor.execute(f"select id, category, amount from {TABLE} order by id limit 3")
        expect([column[0] for column in cursor.description], ["id", "category", "amount"])
        expect(cursor.fetchone()[0], 0)
        expect([row[0] for row in cursor.fetchmany(5)], [1, 2])
        expect(cursor.fetchone(), None)


@checks.check
def a_large_result_is_read_in_batches():
    with connection.cursor() as cursor:
        cursor.execute(MILLION_ROWS)
        reader = cursor.fetch_record_batch()
        batches = rows = total = 0
        for batch in reader:
            batches += 1
            rows += batch.num_rows
            total += pc.sum(batch.column(0)).as_py()
    expect(rows, 1_000_000)
    expect(total, MILLION_SUM)
    return f"{batches} batches"


@checks.check
def a_large_result_is_fetched_whole():
    table = fetch(MILLION_ROWS)
    expect(pc.sum(table.column("n")).as_py(), MILLION_SUM)


def parameter(given: object, kind: str):
    def check():
        expect(value(f"select ?::{kind} as p", (given,)), given, "cast")
        expect(value("select ? as p", (given,)), given, "inferred from what is bound")
        expect(value(f"select count(*) from (select ?::{kind} as p) where p = ?", (given, given)), 1, "two of them")
        expect(value(f"select ?::{kind} is null", (None,)), True, "NULL")

    return check


for title, (given_value, sql_type) in PARAMETERS.items():
    checks.add(f"binds a parameter: {title}", parameter(given_value, sql_type))


@checks.check
def parameters_select_rows_of_a_table():
    sql = f"select count(*) from {TABLE} where id >= ? and category = ?"
    expect(value(sql, (900, "wet")), value(f"select count(*) from {TABLE} where id >= 900 and category = 'wet'"))
    expect(value(f"select count(*) from {TABLE} where seen < ?", (datetime(1969, 2, 1, tzinfo=timezone.utc),)) > 0, True)


@checks.check
def a_statement_is_run_again_with_other_parameters():
    with connection.cursor() as cursor:
        for number in (3, 5, 8):
            cursor.execute(f"select id from {TABLE} where id = ?", (number,))
            expect(cursor.fetchall(), [(number,)])


@checks.check
def too_few_parameters_are_refused():
    with raises(adbc.ProgrammingError, "INVALID_PARAMETER"):
        fetch("select ?::integer + ?::integer", (1,))


@checks.check
def a_prepared_statement_tells_its_parameters():
    with connection.cursor() as cursor:
        schema = cursor.adbc_prepare(f"select id from {TABLE} where id = ? and category = ?")
        expect(len(schema), 2)
        expect([str(field.type) for field in schema], ["int64", "string"])


@checks.check
def the_schema_of_a_statement_is_known_without_running_it():
    with connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema(f"select id, amount from {TABLE}")
    expect(schema.names, ["id", "amount"])
    expect(str(schema.field("amount").type), "decimal128(12, 2)")


@checks.check
def partitions_are_read_one_by_one():
    with connection.cursor() as cursor:
        partitions, schema = cursor.adbc_execute_partitions(f"select id from {TABLE}")
        expect(schema.names, ["id"])
        rows = 0
        for partition in partitions:
            cursor.adbc_read_partition(partition)
            rows += cursor.fetch_arrow_table().num_rows
    expect(rows, 1000)


@checks.check
def get_info_names_the_service():
    info = connection.adbc_get_info()
    expect(bool(info["vendor_name"]) and bool(info["vendor_version"]), True, str(info))
    return info["vendor_name"]


@checks.check
def get_objects_answers_at_every_depth():
    catalogs = connection.adbc_get_objects(depth="catalogs").read_all().to_pylist()
    expect([row["catalog_name"] for row in catalogs], ["lake"])
    (lake,) = connection.adbc_get_objects(depth="db_schemas").read_all().to_pylist()
    expect("peers" in [schema["db_schema_name"] for schema in lake["catalog_db_schemas"]], True)
    filters = {"catalog_filter": "lake", "db_schema_filter": "peers"}
    (lake,) = connection.adbc_get_objects(depth="tables", **filters).read_all().to_pylist()
    tables = lake["catalog_db_schemas"][0]["db_schema_tables"]
    expect("row_groups" in [table["table_name"] for table in tables], True)
    expect({table["table_type"] for table in tables}, {"TABLE"})


@checks.check
def get_objects_answers_columns():
    objects = connection.adbc_get_objects(
        depth="all", catalog_filter="lake", db_schema_filter="peers", table_name_filter="row\\_groups", column_name_filter="a%"
    )
    (lake,) = objects.read_all().to_pylist()
    (table,) = lake["catalog_db_schemas"][0]["db_schema_tables"]
    expect([column["column_name"] for column in table["table_columns"]], ["amount"])


@checks.check
def get_objects_of_everything_answers():
    (lake,) = connection.adbc_get_objects(depth="all").read_all().to_pylist()
    return f"{sum(len(schema['db_schema_tables']) for schema in lake['catalog_db_schemas'])} tables"


@checks.check
def get_table_schema_is_the_one_of_select_star():
    schema = connection.adbc_get_table_schema("row_groups", catalog_filter="lake", db_schema_filter="peers")
    answered = fetch(f"select * from {TABLE} limit 0").schema
    expect(schema.names, answered.names)
    expect(schema.types, answered.types)
    with raises(adbc.ProgrammingError):
        connection.adbc_get_table_schema("no_such_table", catalog_filter="lake", db_schema_filter="peers")


@checks.check
def table_types_are_answered():
    expect("TABLE" in connection.adbc_get_table_types(), True)


@checks.check
def the_current_catalog_and_schema_are_read_and_set():
    with connect() as other:
        expect(other.adbc_current_catalog, "lake")
        other.adbc_current_db_schema = "peers"
        expect(other.adbc_current_db_schema, "peers")
        expect(value("select count(*) from row_groups", using=other), 1000)
        other.adbc_current_catalog = "lake"
        with raises(adbc.ProgrammingError):
            other.adbc_current_catalog = "elsewhere"
    with raises(adbc.ProgrammingError, "row_groups"):
        value("select count(*) from row_groups")


@checks.check
def the_schema_may_be_chosen_on_connecting():
    options = {"adbc.connection.catalog": "lake", "adbc.connection.db_schema": "peers"}
    with connect(options) as other:
        expect(value("select count(*) from row_groups", using=other), 1000)


@checks.check
def a_query_that_computes_is_cancelled():
    with connection.cursor() as cursor:
        timer = threading.Timer(0.5, cursor.adbc_cancel)
        timer.start()
        with raises(adbc.OperationalError):
            cursor.execute(ENDLESS_WORK)
            cursor.fetch_arrow_table()
        timer.join()
    waited = wait_until(nothing_runs, "the cancelled query still runs", FREE_SECONDS)
    expect(value("select 1"), 1, "afterwards")
    return f"free after {waited * 1000:.0f} ms"


@checks.check
def a_query_that_streams_is_cancelled():
    with connection.cursor() as cursor:
        cursor.execute(ENDLESS_ROWS)
        reader = cursor.fetch_record_batch()
        reader.read_next_batch()
        timer = threading.Timer(0.3, cursor.adbc_cancel)
        timer.start()
        try:
            for _ in reader:
                pass
        except (adbc.OperationalError, pa.ArrowException, OSError):
            pass
        else:
            raise AssertionError("the stream ended")
        timer.join()
    waited = wait_until(nothing_runs, "the cancelled query still runs", FREE_SECONDS)
    return f"free after {waited * 1000:.0f} ms"


@checks.check
def a_cursor_that_is_closed_early_frees_its_engine():
    cursor = connection.cursor()
    cursor.execute(ENDLESS_ROWS)
    cursor.fetch_record_batch().read_next_batch()
    cursor.close()
    waited = wait_until(nothing_runs, "the abandoned query still runs", FREE_SECONDS)
    return f"free after {waited * 1000:.0f} ms"


@checks.check
def a_timeout_of_the_client_ends_the_query():
    with connect() as other:
        other.adbc_connection.set_options(**{ConnectionOptions.TIMEOUT_FETCH.value: 1.0})
        began = time.monotonic()
        with raises(adbc.OperationalError):
            value(ENDLESS_WORK, using=other)
        expect(time.monotonic() - began < 15, True)
    wait_until(nothing_runs, "the timed-out query still runs", FREE_SECONDS)


def refusal(sql: str, codes: list[str]):
    def check():
        try:
            fetch(sql)
        except adbc.Error as error:
            named = next((code for code in codes if code in str(error)), None)
            if codes and named is None:
                raise AssertionError(f"none of {codes} in {error}") from error
            wanted = ERROR_CLASSES.get(named)
            if wanted is not None and type(error) is not wanted:
                raise AssertionError(f"{named} raised {type(error).__name__}, expected {wanted.__name__}") from error
        except adbc_driver_manager.Error as error:
            raise AssertionError(f"not a DB-API error: {error}") from error
        else:
            raise AssertionError("it was accepted")
        expect(value("select 1"), 1, "afterwards")

    return check


for title, (text, expected_codes) in REFUSED.items():
    if text:  # the driver itself refuses an empty statement
        checks.add(f"refuses {title}", refusal(text, expected_codes))


@checks.check
def closing_the_connection_ends_the_session():
    before = target.metric("svc_active_sessions")
    other = connect()
    expect(value("select 1", using=other), 1)
    expect(target.metric("svc_active_sessions"), before + 1)
    other.close()
    wait_until(lambda: target.metric("svc_active_sessions") == before, "the session stays")


def cleared(schema: str) -> None:
    """A schema of this program's own, empty: another run may have left one."""
    with connection.cursor() as cursor:
        cursor.execute(f"create schema if not exists {schema}")
        for name in fetch(f"show tables from {schema}").column(0).to_pylist():
            cursor.execute(f'drop table {schema}."{name}"')


@checks.check
def executemany_is_one_insert():
    cleared("adbc_writes")
    with connection.cursor() as cursor:
        cursor.execute("create table adbc_writes.many (id bigint not null, text varchar, day date)")
        rows = [(index, None if index % 3 == 0 else f"n{index}", date(2024, 1, 1)) for index in range(1000)]
        cursor.executemany("insert into adbc_writes.many values (?, ?, ?)", rows)
        expect(cursor.rowcount, 1000)
    expect(value("select count(*) from adbc_writes.many where text is not null and day = date '2024-01-01'"), 666)
    with raises(adbc.ProgrammingError, "EVALUATION_ERROR"):
        with connection.cursor() as cursor:
            cursor.executemany("insert into adbc_writes.many (id) values (?)", [(1,), (None,)])
    expect(value("select count(*) from adbc_writes.many"), 1000)


@checks.check
def adbc_ingest_creates_and_appends():
    cleared("adbc_ingests")
    options = {"db_schema_name": "adbc_ingests"}
    table = pa.table({"id": pa.array(range(100_000), pa.int64()), "text": [f"n{index % 7}" for index in range(100_000)]})
    with connection.cursor() as cursor:
        expect(cursor.adbc_ingest("rows", table, mode="create", **options), 100_000)
        expect(cursor.adbc_ingest("rows", table.to_reader(max_chunksize=1000), mode="append", **options), 100_000)
        expect(cursor.adbc_ingest("rows", table.slice(0, 5), mode="create_append", **options), 5)
    expect(value("select sum(id)::bigint from adbc_ingests.rows"), 2 * sum(range(100_000)) + 10)
    with raises(adbc.ProgrammingError, "ALREADY_EXISTS"):
        with connection.cursor() as cursor:
            cursor.adbc_ingest("rows", table, mode="create", **options)
    with raises(adbc.ProgrammingError, "TABLE_NOT_FOUND"):
        with connection.cursor() as cursor:
            cursor.adbc_ingest("absent", table, mode="append", **options)
    with raises(adbc.ProgrammingError, "nope"):
        with connection.cursor() as cursor:
            cursor.adbc_ingest("rows", pa.table({"nope": [1]}), mode="append", **options)
    expect(value("select count(*) from adbc_ingests.rows"), 200_005)


@checks.check
def adbc_ingest_replaces():
    cleared("adbc_replaces")
    options = {"db_schema_name": "adbc_replaces", "mode": "replace"}
    first = pa.table({"id": pa.array(range(1000), pa.int64()), "text": ["old"] * 1000})
    with connection.cursor() as cursor:
        expect(cursor.adbc_ingest("rows", first, **options), 1000)
        expect(cursor.adbc_ingest("rows", pa.table({"text": [1.5], "more": ["x"]}), **options), 1)
        cursor.execute("select * from adbc_replaces.rows")
        expect(cursor.fetch_arrow_table().to_pydict(), {"text": [1.5], "more": ["x"]})

    def breaks_in_the_middle():
        yield from first.to_batches(max_chunksize=100)[:5]
        raise ValueError("the source broke")

    with connection.cursor() as cursor:
        broken = pa.RecordBatchReader.from_batches(first.schema, breaks_in_the_middle())
        try:
            cursor.adbc_ingest("rows", broken, **options)
        except Exception:
            pass
        else:
            raise AssertionError("an ingest whose source breaks must fail")
    expect(value("select count(*) from adbc_replaces.rows"), 1)


@checks.check
def the_incremental_mode_polls_and_reads_partitions():
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{adbc_driver_manager.StatementOptions.INCREMENTAL.value: "true"})
        partitions, schema = cursor.adbc_execute_partitions(f"select id from {TABLE} where id < 10 order by id")
        expect(schema.names, ["id"])
        expect(len(partitions), 1)
        more, _ = cursor.adbc_execute_partitions(f"select id from {TABLE} where id < 10 order by id")
        expect(more, [])
    with connection.cursor() as cursor:
        cursor.adbc_read_partition(partitions[0])
        expect([row[0] for row in cursor.fetchall()], list(range(10)))


checks.run()
connection.close()

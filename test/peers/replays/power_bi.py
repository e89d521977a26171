"""What Power BI asks, by each of its two ways.

ODBC: the calls of the Arrow Flight SQL ODBC driver (apache/arrow, cpp/src/arrow/flight/sql/odbc/odbc_impl: GetInfoCache,
FlightSqlStatement, GetTablesFor…), in the order in which the Mashup engine makes them: SQLGetInfo, SQLGetTypeInfo, SQLTables,
SQLColumns, keys, then folded queries. A server without GetXdbcTypeInfo shows no preview (apache/arrow-rs#4054).

ADBC: Microsoft's sample connector for Flight SQL (microsoft/DataConnectors, samples/DuckDbFlightSQL: DuckDb.pq, and the
statements that its recorded *.adbc.diagnostics show) over the ADBC driver.
"""

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
from adbc_driver_flightsql import DatabaseOptions

import flight_sql_messages as messages
from answer_schemas import CATALOGS, FOREIGN_KEYS, PRIMARY_KEYS, SCHEMAS, SQL_INFO, TABLES, TABLES_WITH_SCHEMA, TABLE_TYPES, XDBC_TYPES
from checks import Checks, expect
from pyarrow_session import Session
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
session = Session.open(target)

#: SqlInfo ids whose value the ODBC driver reads as 64 bits, as text, or as a bit mask of 32 bits: reading another child of
#: the union would read memory that is not the value's.
INT64_IDS = [503, 505, 507, *range(541, 556), *range(557, 563)]
MASK_IDS = [522, 525, 526, 528, 533, 534, 538, 540, 564]
TEXT_IDS = [0, 1, 504, 513, 514, 529, 530, 531]


@checks.check
def odbc_info_has_the_types_that_the_driver_reads():
    table = session.command(messages.get_sql_info())
    expect(table.schema, SQL_INFO)
    union = table.column("value").combine_chunks()
    union = union.chunk(0) if isinstance(union, pa.ChunkedArray) else union
    kinds = dict(zip(table.column("info_name").to_pylist(), union.type_codes.to_pylist()))
    for ids, kind in ((TEXT_IDS, 0), (INT64_IDS, 2), (MASK_IDS, 3), ([508, 509, 510, 511, 512], 4), ([517], 5)):
        expect({id: kinds[id] for id in ids}, {id: kind for id in ids})


@checks.check
def odbc_types_are_listed_at_once_and_one_by_one():
    expect(session.command(messages.get_xdbc_type_info()).schema, XDBC_TYPES)
    for code in (-7, -5, 3, 4, 8, 12, 91, 92, 93):
        expect(session.command(messages.get_xdbc_type_info(code)).num_rows > 0, True, f"type {code}")


@checks.check
def odbc_navigation_lists_catalogs_schemas_tables_and_columns():
    expect(session.command(messages.get_catalogs()).schema, CATALOGS)
    expect(session.command(messages.get_schemas(None, "%")).schema, SCHEMAS)
    expect(session.command(messages.get_table_types()).schema, TABLE_TYPES)
    # SQLTables without table types: the driver sends one type, the empty text.
    for types in ((), ("",), ("TABLE", "VIEW")):
        tables = session.command(messages.get_tables("lake", "peers", "%", types))
        expect(tables.schema, TABLES)
        expect("row_groups" in tables.column("table_name").to_pylist(), True, str(types))
    columns = session.command(messages.get_tables("lake", "peers", "row\\_groups", include_schema=True))
    expect(columns.schema, TABLES_WITH_SCHEMA)
    (row,) = columns.to_pylist()
    amount = pa.ipc.read_schema(pa.py_buffer(row["table_schema"])).field("amount")
    wanted = {b"TYPE_NAME": b"DECIMAL", b"PRECISION": b"12", b"SCALE": b"2"}
    expect(amount.metadata, {b"ARROW:FLIGHT:SQL:" + key: value for key, value in wanted.items()})


@checks.check
def odbc_keys_are_none():
    for command, schema in (
        (messages.get_primary_keys("row_groups", "peers", "lake"), PRIMARY_KEYS),
        (messages.get_imported_keys("row_groups", "peers", "lake"), FOREIGN_KEYS),
        (messages.get_exported_keys("row_groups", "peers", "lake"), FOREIGN_KEYS),
        (messages.get_cross_reference("row_groups", "empty"), FOREIGN_KEYS),
    ):
        table = session.command(command)
        expect(table.schema, schema)
        expect(table.num_rows, 0)


@checks.check
def odbc_previews_and_folded_queries_answer():
    columns = '"row_groups"."category", "row_groups"."amount"'
    for sql, rows in (
        ('select * from "lake"."peers"."row_groups" limit 1000', 1000),
        (f'select {columns} from "lake"."peers"."row_groups" "row_groups" limit 200', 200),
        ('select "rows"."category" as "category", sum("rows"."amount") as "total" from (select "category", "amount"'
         ' from "lake"."peers"."row_groups" "$Table") "rows" group by "category" limit 1000001', None),
    ):
        (body,) = session.action("CreatePreparedStatement", messages.create_prepared_statement(sql))
        prepared = messages.fields(messages.unpacked(body))
        table = session.command(messages.prepared_statement_query(prepared[1]))
        expect(table.num_rows, table.num_rows if rows is None else rows, sql)
        session.action("ClosePreparedStatement", messages.close_prepared_statement(prepared[1]))


def connect() -> adbc.Connection:
    options = {"username": target.username, "password": target.password}
    if target.tls_roots:
        options[DatabaseOptions.TLS_ROOT_CERTS.value] = target.tls_roots
    # The optional database of the connector travels as a header of every call.
    options[DatabaseOptions.RPC_CALL_HEADER_PREFIX.value + "database"] = "lake"
    return adbc.connect(target.uri, db_kwargs=options, autocommit=True)


connection = connect()


def rows_of(sql: str) -> list[dict]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetch_arrow_table().to_pylist()


@checks.check
def adbc_navigation_reads_databases_schemas_tables_and_columns():
    expect(rows_of("SHOW DATABASES"), [{"database_name": "lake"}])
    schemas = rows_of(
        "SELECT schema_name AS Name FROM information_schema.schemata WHERE catalog_name = 'lake'"
        " AND schema_name <> 'information_schema'"
    )
    expect({"Name": "peers"} in schemas, True)
    tables = rows_of(
        "SELECT table_name AS Name, table_type FROM information_schema.tables WHERE table_catalog = 'lake'"
        " AND table_schema = 'peers'"
    )
    expect({"Name": "row_groups", "table_type": "BASE TABLE"} in tables, True)
    columns = rows_of(
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_catalog = 'lake'"
        " AND table_schema = 'peers' AND table_name = 'row_groups' ORDER BY ordinal_position"
    )
    expect(columns[0], {"column_name": "id", "data_type": "BIGINT", "is_nullable": "NO"})


@checks.check
def adbc_keys_are_none():
    keys = rows_of(
        "SELECT kcu.column_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu"
        "   ON tc.constraint_name = kcu.constraint_name WHERE tc.constraint_type = 'PRIMARY KEY'"
    )
    expect(keys, [])


@checks.check
def adbc_folded_queries_answer():
    expect(len(rows_of('select "category" from "peers"."row_groups" order by "category" LIMIT 3')), 3)
    nested = (
        'select "category", "amount" from ( select "id", "category", "amount" from "peers"."row_groups" ) as "ITBL"'
        ' order by "ITBL"."id" LIMIT 1'
    )
    expect(len(rows_of(nested)), 1)
    expect(rows_of(f'SELECT * FROM ({nested}) AS "_" WHERE 0 = 1'), [], "the types of a native query")


@checks.check
def adbc_objects_have_the_type_names_of_the_type_list():
    names = set(session.command(messages.get_xdbc_type_info()).column("type_name").to_pylist())
    objects = connection.adbc_get_objects(
        depth="all", catalog_filter="lake", db_schema_filter="peers", table_name_filter="row\\_groups"
    )
    (lake,) = objects.read_all().to_pylist()
    (table,) = lake["catalog_db_schemas"][0]["db_schema_tables"]
    for column in table["table_columns"]:
        if column["column_name"] != "key":  # a UUID, which ODBC has no code for
            expect(column["xdbc_type_name"] in names, True, str(column["xdbc_type_name"]))


checks.run()
connection.close()
session.close()

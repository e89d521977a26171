"""What DBeaver and Tableau make the Flight SQL JDBC driver say on the wire, call by call, with the schemas it must get.

The Java replays beside this file go through the driver, which hides them. How a call of DatabaseMetaData becomes an RPC is
read from the driver's ArrowDatabaseMetadata (apache/arrow-java): getColumns is GetTables with schemas, SqlInfo is fetched
whole and once, getTypeInfo and getIndexInfo make no call; a query is CreatePreparedStatement, GetFlightInfo, DoGet, Close.
"""

from collections.abc import Callable

import pyarrow as pa

import flight_sql_messages as messages
from answer_schemas import CATALOGS, FOREIGN_KEYS, PRIMARY_KEYS, SCHEMAS, SQL_INFO, TABLES, TABLES_WITH_SCHEMA, TABLE_TYPES
from checks import Checks, expect
from pyarrow_session import Session
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
SCHEMA, NAME = "peers", "row\\_groups"

#: Command, the schema of its answer, and whether it answers rows.
METADATA = {
    "DBeaver": [
        (messages.get_sql_info(), SQL_INFO, True),
        (messages.get_table_types(), TABLE_TYPES, True),
        (messages.get_catalogs(), CATALOGS, True),
        (messages.get_schemas(None, "%"), SCHEMAS, True),
        (messages.get_tables(None, SCHEMA, "%"), TABLES, True),
        (messages.get_tables(None, SCHEMA, "%", include_schema=True), TABLES_WITH_SCHEMA, True),
        (messages.get_tables(None, SCHEMA, NAME, include_schema=True), TABLES_WITH_SCHEMA, True),
        (messages.get_primary_keys("row_groups", SCHEMA), PRIMARY_KEYS, False),
        (messages.get_imported_keys("row_groups", SCHEMA), FOREIGN_KEYS, False),
        (messages.get_exported_keys("row_groups", SCHEMA), FOREIGN_KEYS, False),
    ],
    "Tableau": [
        (messages.get_sql_info(), SQL_INFO, True),
        (messages.get_catalogs(), CATALOGS, True),
        (messages.get_schemas(), SCHEMAS, True),
        (messages.get_tables("lake", SCHEMA, "%", ("TABLE", "VIEW")), TABLES, True),
        (messages.get_tables("lake", SCHEMA, "row_groups", include_schema=True), TABLES_WITH_SCHEMA, True),
        (messages.get_primary_keys("row_groups", SCHEMA, "lake"), PRIMARY_KEYS, False),
        (messages.get_imported_keys("row_groups", SCHEMA, "lake"), FOREIGN_KEYS, False),
    ],
}

QUERIES = {
    "DBeaver": [
        "SELECT x.* FROM peers.row_groups x",
        "SELECT COUNT(*) FROM (SELECT x.* FROM peers.row_groups x\n) dbvrcnt",
    ],
    "Tableau": [
        'SELECT "COL" FROM (SELECT 1 AS "COL") AS "SUBQUERY"',
        'SELECT * FROM "peers"."row_groups" LIMIT 1 ',
    ],
}


def metadata(tool: str) -> Callable[[], object]:
    def check():
        session = Session.open(target)
        for command, schema, has_rows in METADATA[tool]:
            name = command.split(b".")[-1][:40]
            # `command` also holds the stream's schema against the announced one.
            table = session.command(command)
            expect(table.schema, schema, str(name))
            expect(table.num_rows > 0, has_rows, f"rows of {name}")
            if "table_schema" in table.column_names:
                for row in table.column("table_schema").to_pylist():
                    expect(len(pa.ipc.read_schema(pa.py_buffer(row))) > 0, True, "columns")
        session.close()

    return check


def queries(tool: str) -> Callable[[], object]:
    def check():
        session = Session.open(target)
        for sql in QUERIES[tool]:
            (body,) = session.action("CreatePreparedStatement", messages.create_prepared_statement(sql))
            prepared = messages.fields(messages.unpacked(body))
            expect(prepared.get(4, 0), 0, "is_update")
            expect(len(pa.ipc.read_schema(pa.py_buffer(prepared[3]))), 0, "parameters")
            table = session.command(messages.prepared_statement_query(prepared[1]))
            expect(table.schema, pa.ipc.read_schema(pa.py_buffer(prepared[2])), "dataset_schema")
            session.action("ClosePreparedStatement", messages.close_prepared_statement(prepared[1]))
        session.close()

    return check


for tool_name in METADATA:
    checks.add(f"{tool_name}: metadata calls have the schemas of the specification", metadata(tool_name))
    checks.add(f"{tool_name}: queries are prepared, planned, read and closed", queries(tool_name))
checks.run()

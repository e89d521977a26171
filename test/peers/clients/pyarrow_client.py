"""pyarrow.flight against the service: signing in, queries, metadata commands, tickets, sessions, refusals."""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.flight as flight

import flight_sql_messages as messages
from answer_schemas import CATALOGS, FOREIGN_KEYS, PRIMARY_KEYS, SCHEMAS, SQL_INFO, TABLES, TABLES_WITH_SCHEMA, TABLE_TYPES, XDBC_TYPES
from checks import Checks, expect, raises
from equality import difference
from pyarrow_session import BasicHandler, Session, connect
from statements import MILLION_ROWS, MILLION_SUM, REFUSED, TABLE
from target import target_from_arguments

target = target_from_arguments()
checks = Checks()
session = Session.open(target)

#: One value per engine type that a client may meet.
TYPED_VALUES = """
select true as a_bool, 1::tinyint as i8, 2::smallint as i16, 3::integer as i32, 4::bigint as i64, 5::utinyint as u8,
  6::usmallint as u16, 7::uinteger as u32, 8::ubigint as u64, 0.5::float as f32, 0.1::double as f64,
  1.25::decimal(4,2) as d4, -1.25::decimal(38,10) as d38, 'text' as a_text, 'bytes'::blob as a_blob,
  date '1969-12-31' as a_date, time '12:34:56.789' as a_time, timestamp '2020-02-29 01:02:03.456789' as ts,
  '2020-02-29 01:02:03'::timestamp_s as ts_s, '2020-02-29 01:02:03.123'::timestamp_ms as ts_ms,
  '2020-02-29 01:02:03.123456789'::timestamp_ns as ts_ns, interval 1 month as an_interval,
  [1, 2, null] as a_list, [[1], []] as nested_list, {'a': 1, 'b': 'x'} as a_struct, map {'k': 1} as a_map,
  null as a_null, [{'x': [1]}] as deep, array_value(1, 2, 3) as an_array
"""


@checks.check
def the_bearer_from_basic_credentials_answers_queries():
    expect(session.value("select 42"), 42)


@checks.check
def the_handler_way_to_sign_in_answers_queries():
    client = connect(target)
    client.authenticate(BasicHandler(target.username, target.password))
    info = client.get_flight_info(flight.FlightDescriptor.for_command(messages.statement_query("select 42 as n")))
    expect(client.do_get(info.endpoints[0].ticket).read_all().to_pydict(), {"n": [42]})
    client.close()


@checks.check
def a_wrong_password_is_refused_both_ways():
    client = connect(target)
    with raises(flight.FlightUnauthenticatedError, "UNAUTHENTICATED"):
        client.authenticate_basic_token(target.username, "wrong")
    with raises(flight.FlightUnauthenticatedError, "UNAUTHENTICATED"):
        client.authenticate_basic_token("nobody", target.password)
    with raises(flight.FlightUnauthenticatedError, "UNAUTHENTICATED"):
        client.authenticate(BasicHandler(target.username, "wrong"))
    client.close()


@checks.check
def calls_without_or_with_foreign_credentials_are_refused():
    client = connect(target)
    descriptor = flight.FlightDescriptor.for_command(messages.statement_query("select 1"))
    with raises(flight.FlightUnauthenticatedError, "UNAUTHENTICATED"):
        client.get_flight_info(descriptor)
    for token in (b"Bearer nonsense", b"Bearer ", b"Negotiate abc", session.header[1] + b"x"):
        with raises(flight.FlightUnauthenticatedError):
            client.get_flight_info(descriptor, flight.FlightCallOptions(headers=[(b"authorization", token)]))
    client.close()


@checks.check
def every_engine_type_arrives_as_the_engine_exports_it():
    expected = duckdb.sql(TYPED_VALUES).fetch_arrow_table()
    actual = session.query(TYPED_VALUES)
    found = difference(expected, actual)
    expect(found, None)


@checks.check
def nulls_of_every_type_arrive():
    names = [name for name in duckdb.sql(TYPED_VALUES).columns if name != "an_array"]  # no CASE over arrays
    nulls = f"select {', '.join(f'case when n = 1 then {name} end as {name}' for name in names)} from ({TYPED_VALUES}), range(3) r(n)"
    expected = duckdb.sql(nulls).fetch_arrow_table()
    expect(difference(expected, session.query(nulls)), None)


@checks.check
def enums_arrive_as_dictionaries():
    table = session.query("select unnest(['x', 'y', null, 'x'])::enum('x', 'y') as e")
    expect(pa.types.is_dictionary(table.schema.field("e").type), True)
    expect(table.to_pydict(), {"e": ["x", "y", None, "x"]})


@checks.check
def a_million_rows_arrive_complete():
    table = session.query(MILLION_ROWS)
    expect(table.num_rows, 1_000_000)
    expect(pc.sum(table.column("n")).as_py(), MILLION_SUM)


@checks.check
def an_empty_result_has_its_schema():
    table = session.query(f"select id, category from {TABLE} where id < 0")
    expect(table.num_rows, 0)
    expect(table.column_names, ["id", "category"])


@checks.check
def get_schema_answers_the_schema_of_the_result():
    sql = messages.statement_query(f"select id, amount, moment as m from {TABLE}")
    schema = session.client.get_schema(flight.FlightDescriptor.for_command(sql), session.options()).schema
    expect(schema, session.info(sql).schema)


@checks.check
def a_ticket_runs_again_when_used_twice():
    info = session.info(messages.statement_query(f"select count(*) as n, sum(id) as s from {TABLE}"))
    ticket = info.endpoints[0].ticket
    first, second = (session.reader(ticket).read_all().to_pydict() for _ in range(2))
    expect(first, {"n": [1000], "s": [499_500]})
    expect(second, first)


@checks.check
def garbage_tickets_are_refused():
    good = session.info(messages.statement_query("select 1")).endpoints[0].ticket.ticket
    flipped = good[:-3] + bytes([good[-3] ^ 1]) + good[-2:]
    for ticket in (b"", b"garbage", b"\xff" * 64, good[: len(good) // 2], flipped, messages.statement_ticket(b"x")):
        with raises(pa.ArrowInvalid):
            session.reader(flight.Ticket(ticket)).read_all()
    with raises(pa.ArrowInvalid, "TICKET_INVALID"):
        session.reader(flight.Ticket(flipped)).read_all()


@checks.check
def a_ticket_of_another_session_is_refused():
    other = Session.open(target)
    ticket = other.info(messages.statement_query("select 1")).endpoints[0].ticket
    with raises(pa.ArrowInvalid, "TICKET_INVALID"):
        session.reader(ticket).read_all()
    expect(other.reader(ticket).read_all().num_rows, 1)
    other.close()


@checks.check
def commands_that_are_not_flight_sql_are_refused():
    with raises(pa.ArrowInvalid):
        session.info(b"garbage")
    with raises(pa.ArrowInvalid):
        session.client.get_flight_info(flight.FlightDescriptor.for_path("a", "b"), session.options())
    for name in ("CommandStatementSubstraitPlan", "CommandNoSuchThing"):
        try:
            session.info(messages.packed(name))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            continue
        raise AssertionError(f"{name} was accepted")


@checks.check
def catalogs_schemas_and_tables_are_listed():
    catalogs = session.command(messages.get_catalogs())
    expect(catalogs.schema, CATALOGS)
    expect(catalogs.column(0).to_pylist(), ["lake"])
    schemas = session.command(messages.get_schemas("lake", "peer%"))
    expect(schemas.schema, SCHEMAS)
    expect(schemas.to_pylist(), [{"catalog_name": "lake", "db_schema_name": "peers"}])
    expect(session.command(messages.get_schemas("elsewhere")).num_rows, 0)
    tables = session.command(messages.get_tables("lake", "peers", "evolved\\_%"))
    expect(tables.schema, TABLES)
    names = tables.column("table_name").to_pylist()
    expect(names, sorted(names), "ordered by name")
    expect("evolved_add" in names and "row_groups" not in names, True)
    expect(set(tables.column("table_type").to_pylist()), {"TABLE"})
    expect(session.command(messages.get_tables(schema="peers", types=("VIEW",))).num_rows, 0)
    types = session.command(messages.get_table_types())
    expect(types.schema, TABLE_TYPES)
    expect("TABLE" in types.column(0).to_pylist(), True)


@checks.check
def table_schemas_are_those_of_select_star():
    tables = session.command(messages.get_tables("lake", "peers", include_schema=True))
    expect(tables.schema, TABLES_WITH_SCHEMA)
    for row in tables.to_pylist():
        announced = pa.ipc.read_schema(pa.py_buffer(row["table_schema"]))
        sql = f'select * from lake.peers."{row["table_name"]}"'
        answered = session.info(messages.statement_query(sql)).schema
        expect(announced.names, answered.names, row["table_name"])
        expect(announced.types, answered.types, row["table_name"])
    return f"{tables.num_rows} tables"


@checks.check
def table_schemas_are_in_the_time_zone_of_the_session():
    other = Session.open(target)
    other.query("set timezone = 'Asia/Tokyo'")
    (row,) = other.command(messages.get_tables("lake", "peers", "row\\_groups", include_schema=True)).to_pylist()
    announced = pa.ipc.read_schema(pa.py_buffer(row["table_schema"])).field("seen")
    answered = other.info(messages.statement_query(f"select seen from {TABLE}")).schema.field("seen")
    expect(announced.type, pa.timestamp("us", "Asia/Tokyo"))
    expect(answered, announced.with_nullable(True))
    other.close()


@checks.check
def sql_info_has_every_id_of_the_specification_with_its_type():
    table = session.command(messages.get_sql_info())
    expect(table.schema, SQL_INFO)
    found = set(table.column("info_name").to_pylist())
    wanted = {*range(0, 12), 100, 101, *range(500, 577)}
    expect(sorted(wanted ^ found), [], "ids without a value, or unknown ones")
    few = session.command(messages.get_sql_info(0, 500))
    expect(sorted(few.column("info_name").to_pylist()), [0, 500])
    # Transactions: none, in each of the places that tell of them.
    expect(session.command(messages.get_sql_info(8, 562, 563, 564)).column("value").to_pylist(), [0, 0, False, 1])


@checks.check
def keys_are_empty_and_have_the_schemas_of_the_specification():
    expect_empty(messages.get_primary_keys("row_groups", "peers", "lake"), PRIMARY_KEYS)
    expect_empty(messages.get_primary_keys("no_such_table"), PRIMARY_KEYS)
    expect_empty(messages.get_exported_keys("row_groups", "peers", "lake"), FOREIGN_KEYS)
    expect_empty(messages.get_imported_keys("row_groups", "peers", "lake"), FOREIGN_KEYS)
    expect_empty(messages.get_cross_reference("row_groups", "empty"), FOREIGN_KEYS)


@checks.check
def type_information_is_ordered_and_has_every_type_that_columns_name():
    types = session.command(messages.get_xdbc_type_info())
    expect(types.schema, XDBC_TYPES)
    order = list(zip(types.column("data_type").to_pylist(), types.column("type_name").to_pylist()))
    expect(order, sorted(order), "by data type, then by name")
    for name, code in (("BIGINT", -5), ("VARCHAR", 12), ("BOOLEAN", -7)):
        expect(session.command(messages.get_xdbc_type_info(code)).column("type_name").to_pylist(), [name])
    expect(session.command(messages.get_xdbc_type_info(9999)).num_rows, 0)
    known = {name for _, name in order}
    for field in session.info(messages.statement_query(f"select * exclude (key) from {TABLE}")).schema:
        expect(field.metadata[b"ARROW:FLIGHT:SQL:TYPE_NAME"].decode() in known, True, field.name)


@checks.check
def patterns_match_as_the_specification_says():
    expect(session.command(messages.get_tables("", "peers")).num_rows, 0, "tables without a catalog")
    expect(session.command(messages.get_schemas("", None)).num_rows, 0, "schemas without a catalog")
    expect(session.command(messages.get_tables("lake", "")).num_rows, 0, "tables without a schema")
    expect(session.command(messages.get_tables(table="row_group_")).num_rows, 1)
    expect(session.command(messages.get_tables(table="row\\_group\\_")).num_rows, 0)
    expect(session.command(messages.get_tables(table="ROW\\_GROUPS")).num_rows, 0, "case counts")
    expect(session.command(messages.get_schemas(pattern="p__rs")).column(1).to_pylist(), ["peers"])


def expect_empty(command: bytes, schema: pa.Schema) -> None:
    table = session.command(command)
    expect(table.schema, schema)
    expect(table.num_rows, 0)


@checks.check
def prepared_statements_run_until_they_are_closed():
    (body,) = session.action("CreatePreparedStatement", messages.create_prepared_statement(f"select count(*) as n from {TABLE}"))
    found = messages.fields(messages.unpacked(body))
    schema = pa.ipc.read_schema(pa.py_buffer(found[2]))
    expect(schema.names, ["n"])
    command = messages.prepared_statement_query(found[1])
    for _ in range(2):
        expect(session.command(command).to_pydict(), {"n": [1000]})
    session.action("ClosePreparedStatement", messages.close_prepared_statement(found[1]))
    with raises(pa.ArrowKeyError, "PREPARED_STATEMENT_NOT_FOUND"):
        session.command(command)


@checks.check
def an_update_that_is_only_planned_runs_once():
    # What ADBC does with a driver that does not know `is_update`: GetFlightInfo, and DoGet never comes.
    session.query("create schema if not exists pyarrow_updates")
    session.query("drop table if exists pyarrow_updates.t")
    session.query("create table pyarrow_updates.t (id bigint)")
    (body,) = session.action(
        "CreatePreparedStatement", messages.create_prepared_statement("insert into pyarrow_updates.t values (1)")
    )
    prepared = messages.fields(messages.unpacked(body))
    expect(prepared[4], 1, "is_update")
    expect(len(pa.ipc.read_schema(pa.py_buffer(prepared[2]))), 0, "dataset_schema")
    info = session.info(messages.prepared_statement_query(prepared[1]))
    expect(session.value("select count(*) from pyarrow_updates.t"), 1, "planned")
    session.reader(info.endpoints[0].ticket).read_all()
    expect(session.value("select count(*) from pyarrow_updates.t"), 1, "planned and read")


@checks.check
def an_update_answers_its_number_of_rows():
    session.query("create schema if not exists pyarrow_updates")
    session.query("create table if not exists pyarrow_updates.rows (id bigint)")
    sql = messages.statement_update("insert into pyarrow_updates.rows values (1), (2), (3)")
    writer, answers = session.client.do_put(flight.FlightDescriptor.for_command(sql), pa.schema([]), session.options())
    with writer:
        writer.done_writing()
        answer = messages.fields(answers.read().to_pybytes())
    expect(answer, {1: 3}, "record_count")


@checks.check
def a_flight_info_is_cancelled_and_its_endpoint_renewed():
    info = session.info(messages.statement_query("select 1"))
    (endpoint,) = info.endpoints
    renewed = messages.field(1, endpoint.serialize())
    (body,) = session.action("RenewFlightEndpoint", renewed)
    later = flight.FlightEndpoint.deserialize(body)
    expect(later.ticket, endpoint.ticket)
    expect(later.expiration_time.as_py() >= endpoint.expiration_time.as_py(), True, "expires later")
    (body,) = session.action("CancelFlightInfo", messages.field(1, info.serialize()))
    expect(messages.fields(body), {1: 1}, "cancelled")
    with raises(pa.ArrowKeyError, "TICKET_EXPIRED"):
        session.reader(endpoint.ticket).read_all()
    other = session.info(messages.statement_query("select 2"))
    (body,) = session.action("CancelQuery", messages.cancel_query(other.serialize()))
    expect(messages.fields(messages.unpacked(body)), {1: 1}, "cancelled")


@checks.check
def transactions_are_refused_by_name():
    for name in ("BeginTransaction", "EndTransaction", "BeginSavepoint", "EndSavepoint"):
        with raises(pa.ArrowNotImplementedError, "NOT_SUPPORTED"):
            session.action(name, messages.packed(f"Action{name}Request"))
    with raises(pa.ArrowNotImplementedError, "NOT_SUPPORTED", "ransaction"):
        session.info(messages.packed("CommandStatementQuery", messages.field(1, "select 1"), messages.field(2, b"t")))


@checks.check
def use_changes_the_schema_of_this_session_only():
    mine, other = Session.open(target), Session.open(target)
    mine.query("use lake.peers")
    expect(mine.value("select count(*) from row_groups"), 1000)
    with raises(pa.ArrowKeyError):
        other.value("select count(*) from row_groups")
    mine.close()
    other.close()


@checks.check
def show_and_describe_answer():
    expect(session.query("show catalogs").column(0).to_pylist(), ["lake"])
    expect("peers" in session.query("show schemas").column(0).to_pylist(), True)
    expect("row_groups" in session.query("show tables in peers").column(0).to_pylist(), True)
    expect("id" in session.query(f"describe {TABLE}").column(0).to_pylist(), True)
    expect(session.query(f"explain select * from {TABLE} where id = 3").num_rows > 0, True)


@checks.check
def a_closed_session_is_gone():
    closing = Session.open(target)
    expect(closing.value("select 1"), 1)
    closing.action("CloseSession")
    with raises(flight.FlightUnauthenticatedError):
        closing.value("select 1")
    expect(session.value("select 1"), 1)
    closing.close()


@checks.check
def correlation_headers_are_accepted():
    headers = [
        (b"traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        (b"x-request-id", b"peer-test:1"),
        (b"x-session-id", b"not valid because of blanks"),
    ]
    info = session.info(messages.statement_query("select 1"), headers=headers)
    expect(session.reader(info.endpoints[0].ticket, headers=headers).read_all().num_rows, 1)


@checks.check
def actions_are_listed_and_unknown_ones_refused():
    names = {action.type for action in session.client.list_actions(session.options())}
    for name in ("CreatePreparedStatement", "ClosePreparedStatement", "CloseSession"):
        expect(name in names, True, name)
    with raises(pa.ArrowNotImplementedError):
        session.action("NoSuchAction")


@checks.check
def text_that_is_not_utf_8_is_refused():
    lone_surrogate = b"select '\xed\xa0\x80'"
    try:
        session.info(messages.packed("CommandStatementQuery", messages.field(1, lone_surrogate)))
    except (pa.ArrowInvalid, pa.ArrowException):
        pass
    expect(session.value("select 1"), 1, "afterwards")


def refusal(sql: str, codes: list[str]):
    def check():
        try:
            session.query(sql)
        except (pa.ArrowException, flight.FlightError) as error:
            if isinstance(error, flight.FlightInternalError) or "INTERNAL_ERROR" in str(error):
                raise AssertionError(f"an internal error: {error}") from error
            if codes and not any(code in str(error) for code in codes):
                raise AssertionError(f"none of {codes} in: {str(error)[:500]}") from error
            expect(len(str(error)) < 6000, True, "a short message")
        else:
            raise AssertionError("it was accepted")
        expect(session.value("select 1"), 1, "afterwards")

    return check


for title, (text, expected_codes) in REFUSED.items():
    checks.add(f"refuses {title}", refusal(text, expected_codes))

checks.run()
session.close()

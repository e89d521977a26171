package peers;

import static peers.PeerChecks.column;
import static peers.PeerChecks.describe;
import static peers.PeerChecks.expect;
import static peers.PeerChecks.query;
import static peers.PeerChecks.refused;
import static peers.PeerChecks.rowsOf;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The Flight SQL JDBC driver 18.3.0 against the service. */
public final class JdbcClient {
  private static final String TABLE = "lake.peers.row_groups";
  private static final String ENDLESS_ROWS =
      "select a.*, b.id as other from " + TABLE + " a, " + TABLE + " b, " + TABLE + " c";
  private static final String ENDLESS_WORK =
      "select count(*) from " + TABLE + " a, " + TABLE + " b, " + TABLE + " c, " + TABLE
          + " d where (a.id * b.id + c.id * d.id) % 1000003 = 17";

  private final PeerChecks checks = new PeerChecks();
  private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(2, runnable -> {
    Thread thread = new Thread(runnable);
    thread.setDaemon(true);
    return thread;
  });
  private final JdbcTarget target;
  private Connection connection;

  private JdbcClient(JdbcTarget target) {
    this.target = target;
  }

  public static void main(String[] arguments) throws Exception {
    JdbcClient client = new JdbcClient(JdbcTarget.of(arguments));
    client.signIn();
    client.queries();
    client.values();
    client.parameters();
    client.metadata();
    client.refusals();
    client.cancelling();
    client.checks.run();
    System.exit(0);
  }

  private void signIn() {
    checks.add("user and password sign in", () -> {
      connection = target.open(Map.of());
      expect(true, connection.isValid(5), "isValid");
    });
    checks.add("a wrong password is refused", () -> {
      Properties properties = new Properties();
      properties.put("user", target.user());
      properties.put("password", "wrong");
      refused("UNAUTHENTICATED", () -> query(DriverManager.getConnection(target.url(), properties), "select 1"));
    });
    checks.add("no credentials are refused", () ->
        refused("UNAUTHENTICATED", () -> query(DriverManager.getConnection(target.url(), new Properties()), "select 1")));
    checks.add("a token signs in", () -> {
      Properties properties = new Properties();
      properties.put("token", target.bearer());
      try (Connection other = DriverManager.getConnection(target.url(), properties)) {
        expect("42", query(other, "select 42").get(0).get(0), "value");
      }
    });
    checks.add("a wrong token is refused", () -> {
      Properties properties = new Properties();
      properties.put("token", "nonsense");
      refused("UNAUTHENTICATED", () -> query(DriverManager.getConnection(target.url(), properties), "select 1"));
    });
    checks.add("the catalog property chooses the catalog", () -> {
      Connection other = target.open(Map.of("catalog", "lake"));
      expect("42", query(other, "select 42").get(0).get(0), "value");
      try {
        other.close();
      } catch (SQLException error) {
        // The driver shuts its channel down before it sends CloseSession over it.
        expect(true, describe(error).contains("Channel shutdown invoked"), describe(error));
      }
    });
    checks.add("unknown properties travel as headers and do no harm", () -> {
      try (Connection other = target.open(Map.of("schema", "peers", "foo", "bar"))) {
        expect("42", query(other, "select 42").get(0).get(0), "value");
      }
    });
  }

  private void queries() {
    checks.add("a statement answers rows", () -> {
      List<List<String>> rows = query(connection, "select id, category from " + TABLE + " order by id limit 3");
      expect(List.of("0", "1", "2"), rows.stream().map(row -> row.get(0)).toList(), "ids");
    });
    checks.add("a statement is used again and again", () -> {
      try (Statement statement = connection.createStatement()) {
        for (int step = 0; step < 30; step++) {
          try (ResultSet rows = statement.executeQuery("select " + step + " as n")) {
            expect(true, rows.next(), "a row");
            expect(step, rows.getInt("n"), "value");
            expect(false, rows.next(), "a second row");
          }
        }
      }
    });
    checks.add("statements are open side by side", () -> {
      try (Statement first = connection.createStatement(); Statement second = connection.createStatement();
          ResultSet one = first.executeQuery("select 1"); ResultSet two = second.executeQuery("select 2")) {
        expect(true, one.next() && two.next(), "rows");
        expect(3, one.getInt(1) + two.getInt(1), "sum");
      }
    });
    checks.add("execute answers that there is a result", () -> {
      try (Statement statement = connection.createStatement()) {
        expect(true, statement.execute("select 1"), "execute");
        expect(true, statement.getResultSet().next(), "a row");
      }
    });
    checks.add("executeUpdate and executeBatch insert rows", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("create schema if not exists jdbc_writes");
        statement.executeUpdate("drop table if exists jdbc_writes.rows");
        statement.executeUpdate("create table jdbc_writes.rows (id bigint not null, text varchar)");
        expect(2, statement.executeUpdate("insert into jdbc_writes.rows values (1, 'one'), (2, null)"), "executeUpdate");
      }
      try (PreparedStatement insert =
          connection.prepareStatement("insert into jdbc_writes.rows (id, text) values (?, ?)")) {
        insert.setLong(1, 3);
        insert.setString(2, "three");
        expect(1, insert.executeUpdate(), "prepared executeUpdate");
        for (int row = 0; row < 100; row++) {
          insert.setLong(1, 100 + row);
          insert.setString(2, "batch " + row);
          insert.addBatch();
        }
        insert.executeBatch();
      }
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery("select count(*), count(distinct text) from jdbc_writes.rows")) {
        expect(true, result.next(), "a row");
        expect(103L, result.getLong(1), "rows");
        expect(102L, result.getLong(2), "texts");
      }
    });
    checks.add("parameters choose the snapshot that is read", () -> {
      List<List<String>> snapshots = query(connection,
          "select snapshot_id, epoch_ms(committed_at) from jdbc_writes.\"rows$snapshots\" order by committed_at");
      String count = "select count(*) from jdbc_writes.rows for ";
      try (PreparedStatement statement = connection.prepareStatement(count + "version as of ? where id < ?")) {
        statement.setLong(1, Long.parseLong(snapshots.get(0).get(0)));
        statement.setLong(2, 1000);
        expect("2", rowsOf(statement.executeQuery()).get(0).get(0), "rows of the first snapshot");
      }
      try (PreparedStatement statement = connection.prepareStatement(count + "version as of cast(? as varchar)")) {
        statement.setString(1, "main");
        expect("103", rowsOf(statement.executeQuery()).get(0).get(0), "rows of main");
      }
      try (PreparedStatement statement = connection.prepareStatement(count + "timestamp as of ?")) {
        // As the driver binds any time: its zone is the one of the calendar.
        Calendar utc = Calendar.getInstance(java.util.TimeZone.getTimeZone("UTC"));
        statement.setTimestamp(1, new Timestamp(Long.parseLong(snapshots.get(1).get(1))), utc);
        expect("3", rowsOf(statement.executeQuery()).get(0).get(0), "rows at the time of the second");
      }
    });
    checks.add("a large result is read to its end", () -> {
      long rows = 0;
      long sum = 0;
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(
              "select a.id * 1000 + b.id as n from " + TABLE + " a, " + TABLE + " b")) {
        while (result.next()) {
          rows++;
          sum += result.getLong(1);
        }
      }
      expect(1_000_000L, rows, "rows");
      expect(999_999L * 500_000L, sum, "sum");
    });
    checks.add("an empty result has its columns", () -> {
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery("select id, category from " + TABLE + " where id < 0")) {
        // The driver lists the columns of an empty result twice, whatever the server.
        expect("id", result.getMetaData().getColumnLabel(1), "first column");
        expect("category", result.getMetaData().getColumnLabel(2), "second column");
        expect(false, result.next(), "a row");
      }
    });
    checks.add("labels and types of the columns are known", () -> {
      try (Statement statement = connection.createStatement();
          ResultSet result = statement.executeQuery(
              "select id as \"the id\", amount, moment, day, raw, flag, ratio from " + TABLE + " limit 1")) {
        ResultSetMetaData metadata = result.getMetaData();
        expect("the id", metadata.getColumnLabel(1), "label");
        int[] wanted = {
          Types.BIGINT, Types.DECIMAL, Types.TIMESTAMP, Types.DATE, Types.VARBINARY, Types.BOOLEAN, Types.DOUBLE,
        };
        for (int column = 1; column <= wanted.length; column++) {
          int type = metadata.getColumnType(column);
          boolean same = type == wanted[column - 1]
              || (wanted[column - 1] == Types.BOOLEAN && type == Types.BIT)
              || (wanted[column - 1] == Types.VARBINARY && type == Types.LONGVARBINARY);
          expect(true, same, metadata.getColumnLabel(column) + " has type " + metadata.getColumnTypeName(column));
        }
        expect(12, metadata.getPrecision(2), "precision");
        expect(2, metadata.getScale(2), "scale");
      }
    });
  }

  private void values() {
    check("boolean", "select true", rows -> expect(true, rows.getBoolean(1), "value"));
    check("tinyint", "select 100::tinyint", rows -> expect((byte) 100, rows.getByte(1), "value"));
    check("smallint", "select 30000::smallint", rows -> expect((short) 30000, rows.getShort(1), "value"));
    check("integer", "select 2000000000", rows -> expect(2_000_000_000, rows.getInt(1), "value"));
    check("bigint", "select 9223372036854775807", rows -> expect(Long.MAX_VALUE, rows.getLong(1), "value"));
    check("real", "select 0.5::float", rows -> expect(0.5f, rows.getFloat(1), "value"));
    check("double", "select 0.1::double", rows -> expect(0.1, rows.getDouble(1), "value"));
    check("decimal", "select -12345678901234567890.12::decimal(38, 2)", rows ->
        expect(new BigDecimal("-12345678901234567890.12"), rows.getBigDecimal(1), "value"));
    check("varchar", "select 'snow ☃'", rows -> expect("snow ☃", rows.getString(1), "value"));
    check("blob", "select '\\x00\\xFF'::blob", rows ->
        expect(true, Arrays.equals(new byte[] {0, (byte) 255}, rows.getBytes(1)), "value"));
    check("date", "select date '1969-12-31'", rows -> expect("1969-12-31", rows.getDate(1).toString(), "value"));
    check("time", "select time '12:34:56'", rows -> expect("12:34:56", rows.getString(1).substring(0, 8), "value"));
    check("timestamp", "select timestamp '2020-02-29 01:02:03.456789'", rows ->
        expect(Timestamp.valueOf("2020-02-29 01:02:03.456789"), rows.getTimestamp(1), "value"));
    check("timestamp with time zone", "select timestamptz '2020-02-29 01:02:03+00'", rows -> {
      Timestamp value = rows.getTimestamp(1, Calendar.getInstance(TimeZone.getTimeZone("UTC")));
      expect(1_582_938_123_000L, value.getTime(), "value");
      expect(true, rows.getString(1).startsWith("2020-02-29"), "text " + rows.getString(1));
    });
    check("list", "select [1, 2, 3]", rows -> {
      Object[] items = (Object[]) rows.getArray(1).getArray();
      expect(3, items.length, "items");
    });
    check("struct", "select {'a': 1, 'b': 'x'}", rows ->
        expect(true, String.valueOf(rows.getObject(1)).contains("x"), "value " + rows.getObject(1)));
    check("map", "select map {'k': 1}", rows ->
        expect(true, String.valueOf(rows.getObject(1)).contains("k"), "value " + rows.getObject(1)));
    check("NULL", "select null::integer", rows -> {
      expect(0, rows.getInt(1), "value");
      expect(true, rows.wasNull(), "wasNull");
    });
    check("getObject of every plain type",
        "select true, 1::tinyint, 2::smallint, 3, 4::bigint, 0.5::float, 0.5::double, 1.5::decimal(3,1), 'x', 'x'::blob,"
            + " date '2020-01-01', time '01:02:03', timestamp '2020-01-01 00:00:00'",
        rows -> {
          for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
            expect(true, rows.getObject(column) != null, "column " + column);
          }
        });
  }

  private void parameters() {
    bind("setBoolean", "boolean", "true", (statement, at) -> statement.setBoolean(at, true));
    bind("setByte", "tinyint", "7", (statement, at) -> statement.setByte(at, (byte) 7));
    bind("setShort", "smallint", "700", (statement, at) -> statement.setShort(at, (short) 700));
    bind("setInt", "integer", "-70000", (statement, at) -> statement.setInt(at, -70_000));
    bind("setLong", "bigint", "9007199254740993", (statement, at) -> statement.setLong(at, 9_007_199_254_740_993L));
    bind("setFloat", "float", "0.5", (statement, at) -> statement.setFloat(at, 0.5f));
    bind("setDouble", "double", "0.25", (statement, at) -> statement.setDouble(at, 0.25));
    bind("setBigDecimal", "decimal(20, 2)", "-1.25", (statement, at) ->
        statement.setBigDecimal(at, new BigDecimal("-1.25")));
    bind("setString", "varchar", "snow ☃", (statement, at) -> statement.setString(at, "snow ☃"));
    bind("setBytes", "blob", "\\x00\\xFF", (statement, at) -> statement.setBytes(at, new byte[] {0, (byte) 255}));
    bind("setDate", "date", "2020-02-29", (statement, at) -> statement.setDate(at, Date.valueOf("2020-02-29")));
    bind("setTime", "time", "01:02:03", (statement, at) -> statement.setTime(at, Time.valueOf("01:02:03")));
    bind("setTimestamp", "timestamp", "2020-02-29 01:02:03", (statement, at) ->
        statement.setTimestamp(at, Timestamp.valueOf("2020-02-29 01:02:03")));
    checks.add("setNull binds NULL", () -> {
      try (PreparedStatement statement = connection.prepareStatement("select ?::integer is null")) {
        statement.setNull(1, Types.INTEGER);
        expect("true", rowsOf(statement.executeQuery()).get(0).get(0), "value");
      }
    });
    checks.add("a prepared statement runs again with other parameters", () -> {
      String sql = "select id from " + TABLE + " where id = ?";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        expect(1, statement.getParameterMetaData().getParameterCount(), "parameters");
        expect(1, statement.getMetaData().getColumnCount(), "columns");
        for (long id : new long[] {3, 5, 8}) {
          statement.setLong(1, id);
          expect(List.of(List.of(String.valueOf(id))), rowsOf(statement.executeQuery()), "rows");
        }
      }
    });
    checks.add("several parameters of other types select rows", () -> {
      String sql = "select count(*) from " + TABLE + " where id >= ? and category = ? and day > ?";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setLong(1, 500);
        statement.setString(2, "wet");
        statement.setDate(3, Date.valueOf("1970-01-01"));
        String counted = rowsOf(statement.executeQuery()).get(0).get(0);
        expect(query(connection, "select count(*) from " + TABLE
            + " where id >= 500 and category = 'wet' and day > date '1970-01-01'").get(0).get(0), counted, "rows");
      }
    });
    checks.add("a prepared statement without parameters runs", () -> {
      try (PreparedStatement statement = connection.prepareStatement("select 42")) {
        expect("42", rowsOf(statement.executeQuery()).get(0).get(0), "value");
      }
    });
  }

  private void metadata() {
    checks.add("getCatalogs", () -> expect(List.of("lake"), column(database().getCatalogs(), "TABLE_CAT"), "catalogs"));
    checks.add("getSchemas", () -> {
      expect(true, column(database().getSchemas(), "TABLE_SCHEM").contains("peers"), "peers");
      expect(List.of("peers"), column(database().getSchemas("lake", "peer%"), "TABLE_SCHEM"), "by pattern");
    });
    checks.add("getTableTypes", () ->
        expect(true, column(database().getTableTypes(), "TABLE_TYPE").contains("TABLE"), "TABLE"));
    checks.add("getTables", () -> {
      expect(true, column(database().getTables(null, null, "%", null), "TABLE_NAME").contains("row_groups"), "all");
      ResultSet some = database().getTables("lake", "peers", "row%", new String[] {"TABLE"});
      expect(List.of("row_groups"), column(some, "TABLE_NAME"), "by pattern");
    });
    checks.add("getColumns", () -> {
      ResultSet columns = database().getColumns("lake", "peers", "row_groups", "%");
      List<String> names = column(columns, "COLUMN_NAME");
      expect(List.of("id", "num", "flag"), names.subList(0, 3), "names");
      try (ResultSet one = database().getColumns("lake", "peers", "row_groups", "amount")) {
        expect(true, one.next(), "a row");
        expect(Types.DECIMAL, one.getInt("DATA_TYPE"), "type");
        expect(12, one.getInt("COLUMN_SIZE"), "size");
        expect(2, one.getInt("DECIMAL_DIGITS"), "digits");
      }
    });
    checks.add("getColumns of everything", () -> {
      int rows = column(database().getColumns(null, null, "%", null), "COLUMN_NAME").size();
      expect(true, rows > 500, rows + " columns");
    });
    checks.add("keys, type info, functions and procedures", () -> {
      DatabaseMetaData database = database();
      rowsOf(database.getPrimaryKeys("lake", "peers", "row_groups"));
      rowsOf(database.getImportedKeys("lake", "peers", "row_groups"));
      rowsOf(database.getExportedKeys("lake", "peers", "row_groups"));
      rowsOf(database.getCrossReference("lake", "peers", "row_groups", "lake", "peers", "empty"));
      rowsOf(database.getTypeInfo());
      rowsOf(database.getFunctions(null, null, "%"));
      rowsOf(database.getProcedures(null, null, "%"));
      rowsOf(database.getIndexInfo("lake", "peers", "row_groups", false, false));
    });
    checks.add("every getter of the driver's metadata answers", () -> expect(List.of(), failingGetters(), "failures"));
    checks.add("product, quote string and version are told", () -> {
      DatabaseMetaData database = database();
      expect(false, database.getDatabaseProductName().isBlank(), "product");
      expect(false, database.getDatabaseProductVersion().isBlank(), "version");
      expect("\"", database.getIdentifierQuoteString(), "quote");
    });
    checks.add("the schema of the connection", () -> {
      connection.getCatalog();
      connection.getSchema();
    });
  }

  /** Calls each getter that takes nothing or numbers, for what SqlInfo lacks. What the driver never wrote is no failure. */
  private List<String> failingGetters() throws Exception {
    Set<String> failures = new TreeSet<>();
    DatabaseMetaData database = database();
    for (Method method : DatabaseMetaData.class.getMethods()) {
      Class<?>[] types = method.getParameterTypes();
      boolean isSimple = Arrays.stream(types).allMatch(type -> type == int.class);
      if (!isSimple || method.isDefault()) {
        continue;
      }
      try {
        Object answer = method.invoke(database, Arrays.stream(types).map(type -> (Object) 1).toArray());
        if (answer == null) {
          failures.add(method.getName() + ": null");
        } else if (answer instanceof ResultSet rows) {
          rowsOf(rows);
        }
      } catch (InvocationTargetException thrown) {
        Throwable cause = thrown.getCause();
        boolean isUnwritten = cause instanceof SQLFeatureNotSupportedException
            || cause instanceof UnsupportedOperationException
            || String.valueOf(cause.getMessage()).contains("implement this method");
        boolean isMyArgument = cause instanceof SQLException && types.length > 0;
        if (!isUnwritten && !isMyArgument) {
          failures.add(method.getName() + ": " + cause);
        }
      }
    }
    return new ArrayList<>(failures);
  }

  private void refusals() {
    Map<String, String> refused = new LinkedHashMap<>();
    refused.put("selec 1", "SYNTAX_ERROR");
    refused.put("select * from lake.peers.no_such_table", "TABLE_NOT_FOUND");
    refused.put("select nope from " + TABLE, "BINDING_ERROR");
    refused.put("select * from '/etc/passwd'", "TABLE_REFERENCE_NOT_ALLOWED");
    refused.put("select getenv('HOME')", "FUNCTION_NOT_ALLOWED");
    refused.put("copy (select 1) to '/tmp/x.csv'", "STATEMENT_NOT_ALLOWED");
    refused.put("select cast(category as integer) from " + TABLE, "EVALUATION_ERROR");
    refused.forEach((sql, code) -> checks.add("refuses: " + sql, () -> {
      refused(code, () -> query(connection, sql));
      expect("1", query(connection, "select 1").get(0).get(0), "afterwards");
    }));
  }

  private void cancelling() {
    checks.add("a statement that computes is cancelled", () -> {
      try (Statement statement = connection.createStatement()) {
        timers.schedule(() -> cancel(statement), 700, TimeUnit.MILLISECONDS);
        refused("", () -> rowsOf(statement.executeQuery(ENDLESS_WORK)));
      }
      expect("1", query(connection, "select 1").get(0).get(0), "afterwards");
    });
    checks.add("a statement that streams is cancelled", () -> {
      try (Statement statement = connection.createStatement()) {
        ResultSet rows = statement.executeQuery(ENDLESS_ROWS);
        expect(true, rows.next(), "a row");
        timers.schedule(() -> cancel(statement), 300, TimeUnit.MILLISECONDS);
        refused("", () -> {
          while (rows.next()) {
            rows.getLong(1);
          }
        });
      }
      expect("1", query(connection, "select 1").get(0).get(0), "afterwards");
    });
    checks.add("a result that is closed early gives way", () -> {
      try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(ENDLESS_ROWS)) {
        expect(true, rows.next(), "a row");
      }
      expect("1", query(connection, "select 1").get(0).get(0), "afterwards");
    });
    checks.add("the connection closes", () -> connection.close());
  }

  private interface RowCheck {
    void run(ResultSet rows) throws Exception;
  }

  private interface Binder {
    void bind(PreparedStatement statement, int at) throws SQLException;
  }

  private void check(String type, String sql, RowCheck check) {
    checks.add("reads " + type, () -> {
      try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
        expect(true, rows.next(), "a row");
        check.run(rows);
      }
    });
  }

  private void bind(String setter, String type, String literal, Binder binder) {
    checks.add(setter + " binds a " + type, () -> {
      String sql = "select ?::" + type + " = '" + literal + "'::" + type;
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        binder.bind(statement, 1);
        expect("true", rowsOf(statement.executeQuery()).get(0).get(0), "equal");
      }
    });
  }

  private DatabaseMetaData database() throws SQLException {
    return connection.getMetaData();
  }

  private static void cancel(Statement statement) {
    try {
      statement.cancel();
    } catch (SQLException error) {
      PeerChecks.report("cancel()", false, describe(error), System.nanoTime());
    }
  }
}

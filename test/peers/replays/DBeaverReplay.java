package peers;

import static peers.PeerChecks.column;
import static peers.PeerChecks.expect;
import static peers.PeerChecks.query;
import static peers.PeerChecks.rowsOf;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What DBeaver asks of the Flight SQL JDBC driver when its generic driver connects, opens the navigator, and shows a table.
 * The calls, their order and their arguments are those of its sources (dbeaver/dbeaver): JDBCDataSourceInfo and
 * JDBCSQLDialect for connecting, GenericDataSource.initialize for the structure, GenericMetaModel for objects,
 * SQLQueryTransformerCount for the number of rows. A driver that throws on any of them leaves the tree empty
 * (apache/arrow#40249, apache/arrow-rs#5540).
 */
public final class DBeaverReplay {
  private static final String SCHEMA = "dbeaver_replay";
  /** Names that a pattern must not mistake for one another: `escapeWildCards` writes the first as `a\_b`. */
  private static final List<String> TABLES = List.of("a_b", "axb", "per%cent", "quo\"te ☃");

  private final PeerChecks checks = new PeerChecks();
  private final JdbcTarget target;
  private Connection connection;
  private DatabaseMetaData database;

  private DBeaverReplay(JdbcTarget target) {
    this.target = target;
  }

  public static void main(String[] arguments) throws Exception {
    DBeaverReplay replay = new DBeaverReplay(JdbcTarget.of(arguments));
    replay.connecting();
    replay.navigator();
    replay.dataViewer();
    replay.checks.run();
    System.exit(0);
  }

  private void connecting() {
    checks.add("the connection opens and takes its settings", () -> {
      connection = target.open(Map.of());
      connection.setAutoCommit(true);
      connection.setReadOnly(true);
      connection.setReadOnly(false);
      expect(true, connection.isValid(5), "isValid");
      database = connection.getMetaData();
    });
    checks.add("the data source describes itself", () -> {
      expect(false, database.isReadOnly(), "isReadOnly");
      expect("svc", database.getDatabaseProductName(), "product");
      expect(true, database.getDatabaseProductVersion().matches("\\d+\\.\\d+.*"), "version");
      expect("Arrow Flight SQL JDBC Driver Core", database.getDriverName(), "driver");
      expect("schema", database.getSchemaTerm(), "schema term");
      expect("procedure", database.getProcedureTerm(), "procedure term");
      expect("catalog", database.getCatalogTerm(), "catalog term");
      expect(true, database.supportsBatchUpdates(), "batches");
      expect(false, database.supportsTransactions(), "transactions");
      for (int level : new int[] {
        Connection.TRANSACTION_READ_UNCOMMITTED,
        Connection.TRANSACTION_READ_COMMITTED,
        Connection.TRANSACTION_REPEATABLE_READ,
        Connection.TRANSACTION_SERIALIZABLE,
      }) {
        expect(false, database.supportsTransactionIsolationLevel(level), "isolation level " + level);
      }
    });
    checks.add("the dialect is told", () -> {
      expect("\"", database.getIdentifierQuoteString(), "quote");
      expect("\\", database.getSearchStringEscape(), "escape");
      expect(".", database.getCatalogSeparator(), "separator");
      expect(true, database.isCatalogAtStart(), "catalog first");
      expect(true, database.supportsCorrelatedSubqueries(), "subqueries: else rows are not counted");
      expect(true, database.supportsMixedCaseQuotedIdentifiers(), "quoted names keep their case");
      expect(true, database.supportsSchemasInDataManipulation() && database.supportsCatalogsInDataManipulation(), "DML");
      expect(true, database.supportsSchemasInTableDefinitions() && database.supportsCatalogsInTableDefinitions(), "DDL");
      expect(true, database.supportsNonNullableColumns(), "NOT NULL");
      expect("", database.getExtraNameCharacters(), "extra characters");
      database.getSQLStateType();
      expect(true, database.getSQLKeywords().contains("QUALIFY"), "keywords");
    });
    checks.add("every function that is listed runs in an escape", () -> {
      for (String functions : List.of(database.getNumericFunctions(), database.getStringFunctions(),
          database.getSystemFunctions(), database.getTimeDateFunctions())) {
        for (String function : functions.split(", *")) {
          query(connection, "select {fn " + callOf(function) + "}");
        }
      }
    });
  }

  private void navigator() {
    checks.add("types, table types and catalogs are listed", () -> {
      rowsOf(database.getTypeInfo());
      expect(List.of("TABLE", "VIEW"), column(database.getTableTypes(), "TABLE_TYPE"), "table types");
      // A single catalog is left out of the tree, and null passed for it from here on.
      expect(List.of("lake"), column(database.getCatalogs(), "TABLE_CAT"), "catalogs");
    });
    checks.add("objects of its own are made", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("create schema if not exists " + SCHEMA);
        for (String table : TABLES) {
          statement.executeUpdate("drop table if exists " + name(table));
          statement.executeUpdate("create table " + name(table) + " (id bigint not null, amount decimal(12, 2),"
              + " seen timestamp with time zone, parts integer[])");
        }
        statement.executeUpdate("create or replace view " + name("a_view") + " as select id from " + name("axb"));
      }
    });
    checks.add("schemas are listed", () -> {
      expect(true, column(database.getSchemas(null, "%"), "TABLE_SCHEM").contains(SCHEMA), "by pattern");
      expect(true, column(database.getSchemas(), "TABLE_SCHEM").contains("peers"), "all");
      expect(true, column(database.getSchemas("lake", "%"), "TABLE_CATALOG").stream().allMatch("lake"::equals), "catalog");
    });
    checks.add("the tables of a schema are listed, and one is found by its own name", () -> {
      List<String> all = new ArrayList<>(TABLES);
      all.add("a_view");
      expect(all.stream().sorted().toList(), tables("%", "TABLE_NAME"), "all");
      for (String table : TABLES) {
        expect(List.of(table), tables(escaped(table), "TABLE_NAME"), "one");
      }
      expect(List.of("VIEW"), tables(escaped("a_view"), "TABLE_TYPE"), "type of a view");
    });
    checks.add("columns of all tables, and of one", () -> {
      expect(4 * TABLES.size() + 1, columns("%").size(), "of all");
      expect(List.of("id", "amount", "seen", "parts"), columns(escaped("a_b")), "of one");
      try (ResultSet rows = database.getColumns(null, escaped(SCHEMA), escaped("a_b"), "%")) {
        expect("lake|BIGINT|NO|1", describeColumn(rows), "id");
        expect("lake|DECIMAL|YES|2", describeColumn(rows), "amount");
        expect(12, rows.getInt("COLUMN_SIZE"), "precision");
        expect(2, rows.getInt("DECIMAL_DIGITS"), "scale");
        expect("lake|TIMESTAMP WITH TIME ZONE|YES|3", describeColumn(rows), "seen");
        expect("lake|INTEGER[]|YES|4", describeColumn(rows), "parts");
      }
    });
    checks.add("keys, indexes, functions and procedures are none", () -> {
      for (String table : TABLES) {
        expect(List.of(), rowsOf(database.getPrimaryKeys(null, SCHEMA, table)), "primary keys");
        expect(List.of(), rowsOf(database.getImportedKeys(null, SCHEMA, table)), "imported keys");
        expect(List.of(), rowsOf(database.getExportedKeys(null, SCHEMA, table)), "exported keys");
        expect(List.of(), rowsOf(database.getIndexInfo(null, SCHEMA, table, false, true)), "indexes");
      }
      expect(List.of(), rowsOf(database.getPrimaryKeys(null, SCHEMA, "%")), "primary keys of all");
      expect(List.of(), rowsOf(database.getFunctions(null, escaped(SCHEMA), "%")), "functions");
      expect(List.of(), rowsOf(database.getProcedures(null, escaped(SCHEMA), "%")), "procedures");
    });
    checks.add("what is not there is not listed", () -> {
      expect(List.of(), rowsOf(database.getTables("", escaped(SCHEMA), "%", null)), "no catalog");
      expect(List.of(), rowsOf(database.getTables("elsewhere", null, "%", null)), "another catalog");
      expect(List.of(), rowsOf(database.getTables(null, escaped(SCHEMA), "%", new String[] {"INDEX"})), "another type");
    });
  }

  private void dataViewer() {
    checks.add("a page of rows is read with limits, and its columns are typed", () -> {
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(200);
        statement.setMaxRows(200);
        statement.setQueryTimeout(60);
        expect(true, statement.execute("SELECT x.* FROM peers.row_groups x"), "a result");
        try (ResultSet rows = statement.getResultSet()) {
          ResultSetMetaData metadata = rows.getMetaData();
          int count = 0;
          while (rows.next()) {
            count++;
            for (int at = 1; at <= metadata.getColumnCount(); at++) {
              rows.getString(at);
            }
          }
          expect(200, count, "rows");
          expect("id", metadata.getColumnLabel(1), "label");
          expect("BIGINT", metadata.getColumnTypeName(1), "type");
        }
        expect(null, statement.getWarnings(), "warnings");
      }
    });
    checks.add("rows are counted, sorted and filtered around the query", () -> {
      expect("1000", query(connection, "SELECT COUNT(*) FROM (SELECT x.* FROM peers.row_groups x\n) dbvrcnt").get(0).get(0),
          "count");
      List<List<String>> rows = query(connection,
          "SELECT x.* FROM peers.row_groups x\nWHERE x.category = 'north' ORDER BY x.id DESC");
      expect(true, rows.size() > 1, "rows");
    });
    checks.add("an editor's statement answers its number of rows, and errors name their code", () -> {
      try (Statement statement = connection.createStatement()) {
        expect(false, statement.execute("insert into " + name("axb") + " (id) values (1), (2)"), "a result");
        expect(2, statement.getUpdateCount(), "rows");
        PeerChecks.refused("TABLE_NOT_FOUND", () -> statement.execute("select * from peers.nothing"));
        PeerChecks.refused("SYNTAX_ERROR", () -> statement.execute("selec 1"));
      }
    });
    checks.add("a ping answers, and the connection closes", () -> {
      expect(true, connection.isValid(5), "isValid");
      connection.close();
      expect(true, connection.isClosed(), "isClosed");
    });
  }

  private List<String> tables(String pattern, String label) throws SQLException {
    return column(database.getTables(null, escaped(SCHEMA), pattern, null), label);
  }

  private List<String> columns(String tablePattern) throws SQLException {
    return column(database.getColumns(null, escaped(SCHEMA), tablePattern, "%"), "COLUMN_NAME");
  }

  private static String describeColumn(ResultSet rows) throws SQLException {
    expect(true, rows.next(), "a column");
    return rows.getString("TABLE_CAT") + "|" + rows.getString("TYPE_NAME") + "|" + rows.getString("IS_NULLABLE") + "|"
        + rows.getInt("ORDINAL_POSITION");
  }

  /** DBeaver's JDBCUtils.escapeWildCards. */
  private String escaped(String name) throws SQLException {
    String escape = database.getSearchStringEscape();
    return name.replace("%", escape + "%").replace("_", escape + "_");
  }

  private static String name(String table) {
    return SCHEMA + ".\"" + table.replace("\"", "\"\"") + "\"";
  }

  /** A call of a function by its listed name, with arguments that it takes. */
  private static String callOf(String function) {
    return switch (function) {
      case "PI", "NOW", "CURDATE", "CURTIME" -> function + "()";
      case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "USER" -> function;
      case "ATAN2", "MOD", "POWER", "ROUND", "NULLIF", "IFNULL", "COALESCE" -> function + "(2, 1)";
      case "LEFT", "RIGHT", "REPEAT" -> function + "('text', 2)";
      case "SUBSTRING" -> "SUBSTRING('text' FROM 2 FOR 1)";
      case "REPLACE" -> "REPLACE('text', 't', 'x')";
      case "POSITION" -> "POSITION('x' IN 'text')";
      case "CONCAT" -> "CONCAT('a', 'b')";
      case "CAST" -> "CAST(1 AS VARCHAR)";
      case "CONVERT" -> "CONVERT(1, SQL_VARCHAR)";
      case "TIMESTAMPADD", "TIMESTAMPDIFF" -> function + "(SQL_TSI_DAY, "
          + (function.endsWith("ADD") ? "1" : "{d '2020-02-28'}") + ", {ts '2020-02-29 01:02:03'})";
      case "CHR" -> "CHR(65)";
      case "OCTET_LENGTH" -> "OCTET_LENGTH('text'::BLOB)";
      case "ASCII", "BIT_LENGTH", "CHARACTER_LENGTH", "CHAR_LENGTH", "LCASE", "LENGTH", "LOWER", "LTRIM", "RTRIM", "TRIM",
          "UCASE", "UPPER" -> function + "('text')";
      case "EXTRACT" -> "EXTRACT(YEAR FROM DATE '2020-02-29')";
      case "DATE_TRUNC" -> "DATE_TRUNC('month', DATE '2020-02-29')";
      case "DAYNAME", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "HOUR", "MINUTE", "MONTH", "MONTHNAME", "QUARTER", "SECOND",
          "WEEK", "YEAR" -> function + "(TIMESTAMP '2020-02-29 01:02:03')";
      default -> function + "(0.5)";
    };
  }
}

package peers;

import static peers.PeerChecks.column;
import static peers.PeerChecks.expect;
import static peers.PeerChecks.query;
import static peers.PeerChecks.refused;
import static peers.PeerChecks.rowsOf;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What Tableau Desktop asks of the Flight SQL JDBC driver as "Other Databases (JDBC)" with the dialect SQL92. The statements
 * are those captured from Tableau 2026.2.2 with that dialect (SOFTNETWORK-APP/SoftClient4ES, epic-19-bi-corpus.csv, rows
 * tableau.sql92.*), over a table of ours; the metadata calls are those of its connector SDK ("JDBC Metadata Enumeration":
 * catalogs, schemas, tables, columns, a prepared query, primary and foreign keys, indexes) and of its getDialectProperties,
 * whose failure ends the connection (voltrondata/sqlflite#9).
 */
public final class TableauReplay {
  private static final String TABLE = "\"peers\".\"row_groups\"";
  private static final String FROM = "FROM " + TABLE + " \"row_groups\"";

  private final PeerChecks checks = new PeerChecks();
  private final JdbcTarget target;
  private Connection connection;
  private DatabaseMetaData database;

  private TableauReplay(JdbcTarget target) {
    this.target = target;
  }

  public static void main(String[] arguments) throws Exception {
    TableauReplay replay = new TableauReplay(JdbcTarget.of(arguments));
    replay.connecting();
    replay.structure();
    replay.probes();
    replay.worksheets();
    replay.checks.run();
    System.exit(0);
  }

  private void connecting() {
    checks.add("the properties of the dialect are told", () -> {
      connection = target.open(Map.of());
      database = connection.getMetaData();
      expect(true, database.supportsANSI92EntryLevelSQL(), "entry level");
      database.supportsANSI92IntermediateSQL();
      database.supportsANSI92FullSQL();
      expect(true, database.supportsOuterJoins() && database.supportsFullOuterJoins(), "outer joins");
      expect(true, database.supportsSubqueriesInComparisons() && database.supportsCorrelatedSubqueries(), "subqueries");
      expect(true, database.supportsGroupBy() && database.supportsExpressionsInOrderBy(), "grouping and ordering");
      expect(true, database.supportsUnion() && database.supportsUnionAll(), "unions");
      expect("\"", database.getIdentifierQuoteString(), "quote");
      expect(false, database.supportsTransactions(), "transactions");
      expect(0, database.getMaxColumnNameLength(), "length of names");
    });
    checks.add("temporary tables are refused, so that subqueries are used in their place", () -> {
      String name = "\"XT__EEE____D_E_DA___CC____C__B_B__BFB____1_Connect_CheckCreateTempTableCap\"";
      refused("NOT_SUPPORTED", () -> execute(
          "CREATE LOCAL TEMPORARY TABLE " + name + " ( \t\"COL\" INTEGER \t) ON COMMIT PRESERVE ROWS"));
      refused("SCHEMA_NOT_FOUND", () -> execute("DROP TABLE " + name));
    });
    answers("subqueries are there", "SELECT \"COL\" FROM (SELECT 1 AS \"COL\") AS \"SUBQUERY\"", "1");
    answers("the connection is alive", "SELECT 1", "1");
  }

  private void structure() {
    checks.add("catalogs, schemas and tables are enumerated", () -> {
      expect(List.of("lake"), column(database.getCatalogs(), "TABLE_CAT"), "catalogs");
      expect(true, column(database.getSchemas(), "TABLE_SCHEM").contains("peers"), "schemas");
      List<String> names = column(database.getTables(null, "peers", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME");
      expect(true, names.contains("row_groups"), "tables");
      expect(names, column(database.getTables("lake", "peers", "%", null), "TABLE_NAME"), "by catalog");
    });
    checks.add("the columns of a table are read, both ways", () -> {
      List<String> names = column(database.getColumns(null, "peers", "row_groups", "%"), "COLUMN_NAME");
      try (PreparedStatement prepared = connection.prepareStatement("SELECT * FROM " + TABLE + " WHERE 1=0")) {
        ResultSetMetaData metadata = prepared.getMetaData();
        expect(names.size(), metadata.getColumnCount(), "columns");
        for (int at = 1; at <= names.size(); at++) {
          expect(names.get(at - 1), metadata.getColumnLabel(at), "label");
        }
        expect(List.of(), rowsOf(prepared.executeQuery()), "rows");
      }
    });
    checks.add("keys and indexes are none", () -> {
      expect(List.of(), rowsOf(database.getPrimaryKeys(null, "peers", "row_groups")), "primary keys");
      expect(List.of(), rowsOf(database.getImportedKeys(null, "peers", "row_groups")), "imported keys");
      expect(List.of(), rowsOf(database.getIndexInfo(null, "peers", "row_groups", false, true)), "indexes");
    });
  }

  private void probes() {
    answers("a table as a subquery",
        "SELECT MAX(1) AS \"TblMax\" FROM (   SELECT *   " + FROM + " ) \"row_groups\"", "1");
    checks.add("of TOP, LIMIT and ROWNUM one is understood", () -> {
      refused("SYNTAX_ERROR", () -> execute("SELECT TOP 1 * FROM " + TABLE));
      expect(1, query(connection, "SELECT * FROM " + TABLE + " LIMIT 1 ").size(), "LIMIT");
      refused("BINDING_ERROR", () -> execute("SELECT * FROM (SELECT * FROM " + TABLE + ") WHERE ROWNUM <= 1"));
    });
    checks.add("groups by position and by alias are the same", () -> {
      String select = "SELECT \"row_groups\".\"category\" AS \"COL\" " + FROM + " GROUP BY ";
      expect(query(connection, select + "1").size(), query(connection, select + "\"COL\"").size(), "groups");
    });
    answers("HAVING without groups", "SELECT SUM(1) AS \"COL\" " + FROM + " HAVING COUNT(1)>0", "1000");
    answers("groups of a constant",
        "SELECT SUM(1) AS \"COL\",   2 AS \"COL2\" " + FROM + " GROUP BY 2 HAVING COUNT(1)>0", "1000");
    checks.add("the time of the server", () ->
        expect(1, query(connection, "SELECT CURRENT_TIMESTAMP AS \"COL\"").size(), "rows"));
  }

  private void worksheets() {
    String category = "\"row_groups\".\"category\"";
    String year = "CAST(EXTRACT(YEAR FROM \"row_groups\".\"moment\") AS INTEGER)";
    String month = "CAST(EXTRACT(MONTH FROM \"row_groups\".\"moment\") AS INTEGER)";
    String start = "CASE WHEN 3 >= 0 THEN SUBSTRING(" + category + " FROM 1 FOR 3) ELSE NULL END";
    Map<String, String> statements = new LinkedHashMap<>();
    statements.put("a dimension", "SELECT " + category + " AS \"category\" " + FROM + " GROUP BY " + category);
    statements.put("a dimension in order", statements.get("a dimension") + " ORDER BY 1 ASC");
    statements.put("a measure by a dimension", "SELECT " + category + " AS \"category\",   SUM(\"row_groups\".\"amount\")"
        + " AS \"sum_amount_ok\" " + FROM + " GROUP BY " + category);
    statements.put("years", "SELECT " + year + " AS \"yr_moment_ok\" " + FROM + " GROUP BY " + year);
    statements.put("an average by month", "SELECT AVG(\"row_groups\".\"amount\") AS \"avg_amount_ok\",   " + month
        + " AS \"mn_moment_ok\" " + FROM + " GROUP BY " + month);
    statements.put("the range of a filter", "SELECT MIN(\"row_groups\".\"moment\") AS \"lower_none_moment_qk\",   "
        + "MAX(\"row_groups\".\"moment\") AS \"upper_none_moment_qk\" " + FROM);
    String moment = "CAST(\"row_groups\".\"moment\" AS TIMESTAMP)";
    statements.put("a filter relative to today", "SELECT COUNT(*), AVG(\"row_groups\".\"amount\") AS \"avg_amount_ok\" " + FROM
        + " WHERE ((" + moment + " >= {fn TIMESTAMPADD(SQL_TSI_DAY,-89,CURRENT_DATE)}) AND (" + moment
        + " < {fn TIMESTAMPADD(SQL_TSI_DAY,1,CURRENT_DATE)}))");
    statements.put("calculated fields", "SELECT UPPER(" + category + ") AS \"Calculation_1\",   " + start
        + " AS \"Calculation_2\",   SUM(CHAR_LENGTH(" + category + ")) AS \"sum_Calculation_3_ok\" " + FROM
        + " GROUP BY UPPER(" + category + "),   " + start);
    statements.forEach((name, sql) ->
        checks.add("worksheet: " + name, () -> expect(true, query(connection, sql).size() > 0, "rows")));
    checks.add("the connection closes", () -> connection.close());
  }

  private void answers(String name, String sql, String value) {
    checks.add(name, () -> expect(value, query(connection, sql).get(0).get(0), "value"));
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}

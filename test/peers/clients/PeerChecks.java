package peers;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Timer;
import java.util.TimerTask;

/**
 * Runs named checks and reports each as one JSON line: name, ok, detail, seconds. One that does not end within its time
 * ends the program, because a call blocked in the driver cannot be interrupted.
 */
final class PeerChecks {
  private static final long CHECK_SECONDS = 90;

  private final Map<String, Check> checks = new LinkedHashMap<>();

  interface Check {
    void run() throws Exception;
  }

  void add(String name, Check check) {
    checks.put(name, check);
  }

  void run() {
    Timer timer = new Timer(true);
    checks.forEach((name, check) -> {
      long began = System.nanoTime();
      TimerTask watchdog = new TimerTask() {
        @Override
        public void run() {
          report(name, false, "did not end within " + CHECK_SECONDS + " s", began);
          Runtime.getRuntime().halt(1);
        }
      };
      timer.schedule(watchdog, CHECK_SECONDS * 1000);
      try {
        check.run();
        report(name, true, "", began);
      } catch (Throwable thrown) {
        report(name, false, describe(thrown), began);
      } finally {
        watchdog.cancel();
      }
    });
  }

  static List<List<String>> query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return rowsOf(statement.executeQuery(sql));
    }
  }

  static List<List<String>> rowsOf(ResultSet rows) throws SQLException {
    try (rows) {
      int columns = rows.getMetaData().getColumnCount();
      List<List<String>> all = new ArrayList<>();
      while (rows.next()) {
        List<String> row = new ArrayList<>();
        for (int column = 1; column <= columns; column++) {
          row.add(rows.getString(column));
        }
        all.add(row);
      }
      return all;
    }
  }

  static List<String> column(ResultSet rows, String label) throws SQLException {
    try (rows) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(label));
      }
      return values;
    }
  }

  /** The check must fail with the driver's error, whose message has the code. */
  static void refused(String code, Check check) throws Exception {
    try {
      check.run();
    } catch (SQLException | RuntimeException error) {
      if (error instanceof NullPointerException || !describe(error).contains(code)) {
        throw new AssertionError("the message lacks " + code + ": " + describe(error), error);
      }
      return;
    }
    throw new AssertionError("nothing was thrown");
  }

  static void expect(Object expected, Object actual, String what) {
    if (!Objects.equals(expected, actual)) {
      throw new AssertionError(what + ": " + actual + ", expected " + expected);
    }
  }

  static String describe(Throwable thrown) {
    StringBuilder text = new StringBuilder();
    for (Throwable cause = thrown; cause != null && text.length() < 2000; cause = cause.getCause()) {
      text.append(text.isEmpty() ? "" : " <- ").append(cause);
    }
    return text.toString();
  }

  static synchronized void report(String name, boolean ok, String detail, long began) {
    double seconds = (System.nanoTime() - began) / 1e9;
    String line = "{\"name\":" + json(name) + ",\"ok\":" + ok + ",\"detail\":" + json(detail) + ",\"seconds\":"
        + String.format(Locale.ROOT, "%.3f", seconds) + "}\n";
    System.out.writeBytes(line.getBytes(StandardCharsets.UTF_8));
    System.out.flush();
  }

  private static String json(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        out.append('\\').append(letter);
      } else if (letter < ' ') {
        out.append(String.format("\\u%04x", (int) letter));
      } else {
        out.append(letter);
      }
    }
    return out.append('"').toString();
  }
}

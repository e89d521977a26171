package peers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;

/** Where the service under test is. `bearer` is of a session of its own. */
record JdbcTarget(String url, String user, String password, String bearer) {
  /**
   * From the arguments of a program: host, port, user, password, a bearer, and, when the service speaks TLS, the PEM file
   * of its certificate authority.
   */
  static JdbcTarget of(String[] arguments) {
    String address = "jdbc:arrow-flight-sql://" + arguments[0] + ":" + arguments[1] + "/";
    String url = arguments.length > 5
        ? address + "?useEncryption=true&tlsRootCerts=" + arguments[5]
        : address + "?useEncryption=false";
    return new JdbcTarget(url, arguments[2], arguments[3], arguments[4]);
  }

  Connection open(Map<String, String> more) throws SQLException {
    Properties properties = new Properties();
    properties.put("user", user);
    properties.put("password", password);
    properties.putAll(more);
    return DriverManager.getConnection(url, properties);
  }
}

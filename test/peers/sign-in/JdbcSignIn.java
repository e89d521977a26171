package peers;

import static peers.PeerChecks.expect;
import static peers.PeerChecks.query;
import static peers.PeerChecks.refused;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The Flight SQL JDBC driver 18.3.0 against a service whose users sign in at Keycloak: by password and by access token. */
public final class JdbcSignIn {
  private static final long WAIT_MILLISECONDS = 30_000;

  private final PeerChecks checks = new PeerChecks();
  private final HttpClient http = HttpClient.newHttpClient();
  private final JdbcTarget target;
  private final String tokenEndpoint;
  private final String client;
  private final String briefClient;
  private int statements;

  private JdbcSignIn(JdbcTarget target, List<String> provider) {
    this.target = target;
    this.tokenEndpoint = provider.get(0);
    this.client = provider.get(1);
    this.briefClient = provider.get(2);
  }

  /** The arguments of JdbcTarget, then the provider's token endpoint and two of its clients. */
  public static void main(String[] arguments) {
    List<String> all = List.of(arguments);
    JdbcTarget target = JdbcTarget.of(all.subList(0, 5).toArray(String[]::new));
    JdbcSignIn program = new JdbcSignIn(target, all.subList(5, all.size()));
    program.passwords();
    program.tokens();
    program.checks.run();
    System.exit(0);
  }

  private void passwords() {
    checks.add("a user signs in by password", () -> {
      try (Connection connection = target.open(Map.of())) {
        expect("42", query(connection, once(target.user())).get(0).get(0), "value");
      }
    });
    checks.add("a wrong password and an unknown user are refused with one answer", () -> {
      String answer = "[UNAUTHENTICATED] The user name or the password is not right.";
      refused(answer, () -> target.open(Map.of("password", "wrong")));
      refused(answer, () -> target.open(Map.of("user", "nobody")));
    });
  }

  private void tokens() {
    checks.add("an access token signs in", () -> {
      try (Connection connection = withToken(accessToken(client))) {
        expect("42", query(connection, once(target.user())).get(0).get(0), "value");
      }
    });
    checks.add("the bearer of a session signs in", () -> {
      try (Connection connection = withToken(target.bearer())) {
        expect("42", query(connection, once(target.user())).get(0).get(0), "value");
      }
    });
    checks.add("garbage and a changed access token are refused", () -> {
      refused("[UNAUTHENTICATED] ", () -> query(withToken("nonsense"), "select 1"));
      String token = accessToken(client);
      String changed = token.substring(0, token.length() - 20);
      refused("[UNAUTHENTICATED] ", () -> query(withToken(changed), "select 1"));
    });
    checks.add("a session of an access token ends with the token", () -> {
      Connection connection = withToken(accessToken(briefClient));
      expect("42", query(connection, "select 42").get(0).get(0), "value");
      refused("[SESSION_EXPIRED] session expired, sign in again", () -> {
        long deadline = System.currentTimeMillis() + WAIT_MILLISECONDS;
        while (System.currentTimeMillis() < deadline) {
          query(connection, "select 1");
        }
      });
    });
  }

  private Connection withToken(String token) throws SQLException {
    Properties properties = new Properties();
    properties.put("token", token);
    return DriverManager.getConnection(target.url(), properties);
  }

  /** What the audit log must have one line with, under the user's name. */
  private String once(String user) {
    statements += 1;
    return "select 42 /* once jdbc " + user + " " + statements + " */";
  }

  private String accessToken(String clientId) throws IOException, InterruptedException {
    Map<String, String> form = Map.of(
        "grant_type", "password", "client_id", clientId, "username", target.user(), "password", target.password());
    String body = form.entrySet().stream()
        .map(each -> each.getKey() + "=" + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
    HttpRequest request = HttpRequest.newBuilder(URI.create(tokenEndpoint))
        .header("content-type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    String answer = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    Matcher found = Pattern.compile("\"access_token\":\"([^\"]+)\"").matcher(answer);
    expect(true, found.find(), "an access token");
    return found.group(1);
  }
}

import { formatNames } from '../sql/output/format.js';

export const sqlHelp = `svc sql: run SQL

Usage
  svc sql [options]                      a shell, when standard input is a terminal
  svc sql [options] -c SQL | -f FILE     these statements, in the order given; both can be repeated
  svc sql [options] < FILE               the statements of standard input

Without --server the session is in this process: the planner and engines of the service over its catalog folder
(./.svc/warehouse, or catalog.path of the configuration), for the local user, without a listener. Several sessions
and a service may use one folder at the same time. With --server the statements run on that service.

Statements end with a semicolon; the last one needs none. docs/sql.md has the dialect.

What to run
  -c, --command SQL     statements
  -f, --file FILE       the statements of a file; - is standard input
      --keep-going      go on after a statement that failed (the exit code is still 1)

Output
      --format NAME     ${formatNames.join(', ')}
                        (default: table)
  -o, --output FILE     to a file, which appears when all statements have succeeded
      --no-pager        do not show long answers through a pager
      --no-progress     do not show how far a statement is

  table       aligned columns; on a terminal cut to its width, with … where something is missing
  expanded    one line per value
  csv         RFC 4180 with a header; NULL is an empty field, the empty text is ""
  json        one array of objects; numbers with all their digits, nested values as JSON
  ndjson      one object per line
  markdown    a table
  parquet     a Parquet file, of one statement; it is made in the system's temporary folder (TMPDIR) first
  arrow       the Arrow IPC streaming format, of one statement

Where to run
  -s, --server URL      grpc+tls://HOST[:PORT], or grpc://HOST[:PORT] without encryption; the port is 50051 if not given
      --tls-roots FILE  trust these certificates (PEM) instead of the system's
      --insecure        send credentials over a connection that is not encrypted to another machine
      --config FILE     configuration of an embedded session; without it ./svc.toml, and without that the defaults
      --catalog NAME    catalog of names without one, as USE sets it
      --schema NAME     schema of names without one, as USE sets it
  -h, --help            print this text

Files, without --server
  A path, URL or pattern stands where a table may: 'x.parquet', '*.csv', 'https://…', 's3://bucket/*.json', and
  'folder' for a Delta table; so do read_csv('…', delim = ';'), read_parquet([…]), read_json, read_text and
  delta_scan('…', version = 3).

In the shell
  \\? lists commands such as \\d TABLE, \\dt, \\x, \\timing, \\o FILE. Tab completes keywords and the names of schemas,
  tables and columns. Ctrl-C ends a running statement, or drops what is typed; Ctrl-D leaves.

Environment
  SVC_USER, SVC_PASSWORD   who to sign in as with --server
  SVC_TOKEN                a bearer token, in place of user and password
  SVC_SECTION__KEY         a setting of an embedded session, in place of the configuration file's
  SVC_HISTORY              the shell's history file; default ~/.svc_history, empty for none
  PAGER                    the pager; default less, empty or cat for none

Exit codes
  0    all statements succeeded, or the reader of the output has gone
  1    a statement failed
  2    the command line or the configuration is not right
  3    the server could not be reached, or did not accept the credentials
  4    the output could not be written
  130  ended by Ctrl-C

Examples
  svc sql -c "SELECT origin, count(*) FROM samples.flights GROUP BY ALL ORDER BY 2 DESC LIMIT 5"
  svc sql --format csv -o flights.csv -c "FROM samples.flights"
  svc sql -c "SELECT * FROM 'orders.parquet' JOIN 'people.csv' USING (id)" --format ndjson
  svc sql --server grpc+tls://lake.example.com --schema sales -f report.sql --format markdown
`;

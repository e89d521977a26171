import { serviceVersion } from '../version.js';

export const mainHelp = `svc ${serviceVersion}: SQL over Apache Iceberg tables, as the user who asks

Usage
  svc serve [--config FILE]     run the service
  svc worker [--config FILE]    run parts of queries for services elsewhere
  svc sql [options]             run SQL: here, or on a running service with --server
  svc completion SHELL          print what lets bash, zsh or fish complete this command
  svc version                   print the version
  svc help [COMMAND]            print this text, or that of a command

The configuration is the file that --config names, else ./svc.toml, else the defaults. Every setting can also be given
as SVC_SECTION__KEY in the environment; docs/configuration.md lists them.
`;

export const serveHelp = `svc serve: run the service

Usage
  svc serve [--config FILE]

Opens the listeners, prints what listens where on standard error, and serves until it is told to stop.

Options
  --config FILE   the configuration; without it ./svc.toml, and without that the defaults
  --help, -h      print this text

Signals
  Ctrl-C or SIGTERM drains: running queries finish, for at most server.drain_timeout_secs; new ones are refused.
  A second one stops at once.

Environment
  SVC_SECTION__KEY   a setting, in place of the configuration file's
  RUST_LOG           log level: info (default), or such as warn,svc::lake=debug

Output
  Standard output has one JSON object per log line; standard error has what a person reads.

Exit codes
  0  stopped after a drain
  1  could not start, or had to stop at once
  2  the command line is not right
`;

export const workerHelp = `svc worker: run parts of queries for services elsewhere

Usage
  svc worker [--config FILE]

Takes tasks of coordinators (svc serve) that have the same worker.secret, reads the files that a task names with the
credentials that came with it, and answers rows. It has no catalog, no users and no credentials of its own. Coordinators
find it by worker.addresses or worker.discovery_name.

Options
  --config FILE   the configuration; without it ./svc.toml, and without that the defaults
  --help, -h      print this text

Settings
  worker.secret                  needed: at least 32 bytes, the same as the coordinators'
  worker.bind_address, .port     where tasks come in; default port 50052
  worker.tls_cert, .tls_key      TLS; with worker.tls_client_ca only for coordinators that show a certificate
  metrics.prometheus_port        metrics; probes and status one above it
  query.max_concurrent           tasks that run at the same time
  docs/configuration.md lists all of them.

Signals
  Ctrl-C or SIGTERM drains: running tasks finish, for at most server.drain_timeout_secs; new ones are refused, and their
  coordinators send them elsewhere. A second one stops at once.

Environment
  SVC_SECTION__KEY   a setting, in place of the configuration file's
  RUST_LOG           log level: info (default), or such as warn,svc::worker=debug

Output
  Standard output has one JSON object per log line; standard error has what a person reads.

Exit codes
  0  stopped after a drain
  1  could not start, or had to stop at once
  2  the command line is not right
`;

export const versionHelp = `svc version: print the version

Usage
  svc version
  svc --version
`;

export const completionHelp = `svc completion: let a shell complete this command

Usage
  svc completion bash|zsh|fish

Prints a script for the shell; it needs nothing but the shell itself.

Examples
  bash   echo 'source <(svc completion bash)' >> ~/.bashrc
  zsh    svc completion zsh > "\${fpath[1]}/_svc"
  fish   svc completion fish > ~/.config/fish/completions/svc.fish
`;

// Runs one peer program and reports the checks it prints, one JSON object per line.
import path from 'node:path';
import { runCommand } from '../support/run-command.mjs';
import { runPage } from './page.mjs';

const peerTimeoutMs = 10 * 60_000;

/** A program that prints no check, or ends with an error, is a failure of its own. */
export async function runPeer({ peer, service, tools, report }) {
  if (peer.page !== undefined) return await runDocumentation({ peer, service, tools, report });
  let checks = 0;
  const options = optionsOf(service, tools);
  const [command, args] = await commandOf(peer, service, tools, options);
  const result = await runCommand(command, args, {
    ...options,
    onLine(line) {
      const check = parse(line);
      if (check === undefined) return;
      checks += 1;
      report({ ...check, name: `${peer.name}: ${check.name}` });
    },
  });
  if (result.code !== 0 || checks === 0) {
    const reason = result.timedOut
      ? `was ended after ${peerTimeoutMs / 1000} s`
      : `ended with ${result.code}`;
    const detail = `${reason}, ${checks} checks\n${result.output.slice(-3000)}`;
    report({ name: peer.name, ok: false, seconds: result.seconds, detail });
  }
}

async function commandOf(peer, service, tools, options) {
  if (peer.java !== undefined) return await java(peer, service, tools, options);
  return peer.iceberg === undefined ? python(peer, service, tools) : iceberg(peer, tools);
}

/** The tables that the page reads, then its programs. */
async function runDocumentation({ peer, service, tools, report }) {
  const sample = python({ python: 'page/sample_tables.py', variant: peer.variant }, service, tools);
  const { code, output } = await runCommand(...sample, optionsOf(service, tools));
  if (code !== 0) throw new Error(`Making the tables of ${peer.page} failed:\n${output.slice(-3000)}`);
  await runPage({ peer, service, tools, report });
}

function optionsOf(service, tools) {
  return {
    cwd: service.folder,
    env: { ...process.env, PYTHONPATH: pythonPath(tools), PYTHONDONTWRITEBYTECODE: '1' },
    timeoutMs: peerTimeoutMs,
  };
}

function python({ python: program, variant }, service, tools) {
  const target = {
    host: service.host,
    flight_port: service.flightPort,
    metrics_port: service.metricsPort,
    status_port: service.statusPort,
    username: service.username,
    password: service.password,
    sign_in: service.signIn ?? null,
    tls_roots: variant === 'tls' ? tools.roots : null,
    tables: variant === 'tpch' ? tools.tpch : tools.tables,
    tokens: variant === 'tpch' ? tools.policies.tokens : null,
  };
  return [tools.python, [path.join(tools.peersFolder, program), JSON.stringify(target)]];
}

/** Reads the files that the service has written, without the service. */
function iceberg({ iceberg: program }, tools) {
  const folder = path.join(tools.tables, 'written');
  return ['java', ['-Xmx1g', '-cp', `${tools.iceberg}/*`, path.join(tools.peersFolder, program), folder]];
}

/** The JDBC program is told a bearer too: the driver's `token` property starts from one. */
async function java({ java: program, variant }, service, tools, options) {
  const signIn = python({ python: 'clients/sign_in.py', variant }, service, tools);
  const { code, output } = await runCommand(...signIn, options);
  if (code !== 0) throw new Error(`Signing in for the JDBC program failed:\n${output.slice(-3000)}`);
  const address = [
    service.host,
    String(service.flightPort),
    service.username,
    service.password,
    output.trim(),
  ];
  return [
    'java',
    [
      ...['--add-opens=java.base/java.nio=ALL-UNNAMED', '-Xmx1g'],
      ...['-cp', [tools.jar, tools.javaClasses].join(path.delimiter), `peers.${program}`],
      ...address,
      ...(variant === 'tls' ? [tools.certificate] : []),
      ...(service.signIn ? providerArguments(service.signIn) : []),
    ],
  ];
}

function providerArguments({ tokenEndpoint, publicClientId, briefClientId }) {
  return [tokenEndpoint, publicClientId, briefClientId];
}

function pythonPath({ root, peersFolder }) {
  const folders = [
    peersFolder,
    path.join(peersFolder, 'clients'),
    path.join(peersFolder, 'sign-in'),
    path.join(peersFolder, 'tables'),
    path.join(peersFolder, 'written'),
    path.join(root, 'bench', 'clients'),
  ];
  return folders.join(path.delimiter);
}

function parse(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(line);
    return typeof value.name === 'string' && typeof value.ok === 'boolean' ? value : undefined;
  } catch {
    return undefined;
  }
}

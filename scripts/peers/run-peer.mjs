// Runs one peer program and reports the checks it prints, one JSON object per line.
import path from 'node:path';
import { runCommand } from '../support/run-command.mjs';

const peerTimeoutMs = 10 * 60_000;

/** A program that prints no check, or ends with an error, is a failure of its own. */
export async function runPeer({ peer, service, tools, report }) {
  const isTls = peer.variant === 'tls';
  let checks = 0;
  const [command, args] = commandLine(peer, service, tools, isTls);
  const result = await runCommand(command, args, {
    cwd: service.folder,
    env: { ...process.env, PYTHONPATH: pythonPath(tools), PYTHONDONTWRITEBYTECODE: '1' },
    timeoutMs: peerTimeoutMs,
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
    report({
      name: peer.name,
      ok: false,
      seconds: result.seconds,
      detail: `${reason}, ${checks} checks\n${result.output.slice(-3000)}`,
    });
  }
}

function commandLine(peer, service, tools, isTls) {
  if (peer.java !== undefined) {
    const address = [service.host, String(service.flightPort), service.username, service.password];
    return [
      'java',
      [
        '--add-opens=java.base/java.nio=ALL-UNNAMED',
        '-Xmx1g',
        '-cp',
        tools.jar,
        path.join(tools.peersFolder, peer.java),
        ...address,
        ...(isTls ? [tools.certificate] : []),
      ],
    ];
  }
  const target = {
    host: service.host,
    flight_port: service.flightPort,
    metrics_port: service.metricsPort,
    status_port: service.statusPort,
    username: service.username,
    password: service.password,
    tls_roots: isTls ? tools.roots : null,
    tables: peer.variant === 'tpch' ? tools.tpch : tools.tables,
  };
  return [tools.python, [path.join(tools.peersFolder, peer.python), JSON.stringify(target)]];
}

function pythonPath({ root, peersFolder }) {
  const folders = [
    peersFolder,
    path.join(peersFolder, 'clients'),
    path.join(peersFolder, 'tables'),
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

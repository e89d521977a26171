// Redis on a free port of this machine: a server alone, with or without TLS and a password, or a cluster of three.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { makeCertificate } from '../../../scripts/peers/certificate.mjs';
import { freePort } from '../../../scripts/support/free-ports.mjs';
import { redisPrograms } from '../../../scripts/support/redis-programs.mjs';
import { runCommand } from '../../../scripts/support/run-command.mjs';
import { host, startServer } from './server-process.mjs';

const clusterNodes = 3;
const clusterTimeoutMs = 30_000;

/**
 * Answers `{ url, port, pid, certificate, stop(), kill() }`; its log lies in `folder`, and nothing else: it keeps all in
 * memory. With `port` it comes back where another one was killed; with `busPort` it is one of a cluster. With `tls` nothing but TLS is spoken there, and
 * `certificate` is the file that its clients must trust.
 */
export async function startRedis(folder, { tls = false, password, port, busPort } = {}) {
  const programs = await redisPrograms();
  mkdirSync(folder, { recursive: true });
  const chosen = port ?? (await freePort());
  const pair = tls ? await makeCertificate(folder) : undefined;
  const access = accessArguments({ chosen, password, pair });
  const { pid, stop, kill } = await startServer({
    name: 'Redis',
    command: programs.server,
    args: [
      ...['--bind', host, '--dir', folder, '--save', '', '--appendonly', 'no'],
      ...(pair ? ['--port', '0', '--tls-port', String(chosen)] : ['--port', String(chosen)]),
      ...(pair ? ['--tls-cert-file', pair.certificate, '--tls-key-file', pair.key] : []),
      ...(pair ? ['--tls-auth-clients', 'no'] : []),
      ...(pair ? ['--tls-ca-cert-file', pair.certificate] : []),
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...(busPort === undefined ? [] : ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)]),
    ],
    cwd: folder,
    env: { PATH: process.env.PATH, ...programs.env },
    log: path.join(folder, 'redis.log'),
    isReady: async () => {
      const { output } = await runCommand(programs.cli, [...access, 'PING'], { env: programs.env });
      return output.includes('PONG');
    },
  });
  return {
    url: `${tls ? 'rediss' : 'redis'}://${credentials(password)}${host}:${chosen}`,
    port: chosen,
    pid,
    certificate: pair?.certificate,
    stop,
    kill,
  };
}

/** Answers `{ url, nodes, stop() }`: three masters that share the keys; `nodes` are as `startRedis` answers them. */
export async function startRedisCluster(folder, { password } = {}) {
  const programs = await redisPrograms();
  const nodes = [];
  const stop = async () => {
    for (const node of nodes) await node.stop();
  };
  try {
    for (let each = 0; each < clusterNodes; each += 1) {
      const busPort = await freePort();
      const node = await startRedis(path.join(folder, `node-${each}`), { password, busPort });
      nodes.push({ ...node, busPort });
    }
    await joinCluster({ programs, nodes, password });
  } catch (error) {
    await stop();
    throw error;
  }
  const hosts = nodes.map(({ port }) => `${host}:${port}`).join(',');
  return { url: `redis+cluster://${credentials(password)}${hosts}`, nodes, stop };
}

/** Shares the keys out, and waits until each node knows that all of them have an owner. */
async function joinCluster({ programs, nodes, password }) {
  const [{ port: chosen }] = nodes;
  const access = accessArguments({ chosen, password });
  const cli = (...args) => runCommand(programs.cli, args, { env: programs.env });
  const addresses = nodes.map(({ port, busPort }) => `${host}:${port}@${busPort}`);
  const created = await cli(...access, '--cluster', 'create', ...addresses, '--cluster-yes');
  if (created.code !== 0) throw new Error(`The Redis cluster was not made:\n${created.output.slice(-2000)}`);
  const deadline = Date.now() + clusterTimeoutMs;
  for (const node of nodes) {
    const own = accessArguments({ chosen: node.port, password });
    while (!(await cli(...own, 'CLUSTER', 'INFO')).output.includes('cluster_state:ok')) {
      if (Date.now() > deadline) throw new Error('The Redis cluster was not ready in time.');
    }
  }
}

/** What redis-cli is told to get in. */
function accessArguments({ chosen, password, pair }) {
  return [
    ...['-h', host, '-p', String(chosen)],
    ...(password === undefined ? [] : ['--no-auth-warning', '-a', password]),
    ...(pair === undefined ? [] : ['--tls', '--cacert', pair.certificate]),
  ];
}

function credentials(password) {
  return password === undefined ? '' : `:${encodeURIComponent(password)}@`;
}

// `npm run bench -- [name…] [--runs N] [--scale S] [--json FILE]`. See bench/README.md for what each one compares.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeCertificate } from '../scripts/peers/certificate.mjs';
import { cacheFolder, pythonEnvironment } from '../scripts/support/peer-environment.mjs';
import { runCommand } from '../scripts/support/run-command.mjs';
import { startService } from '../scripts/support/service.mjs';
import { writeTpchPolicies } from '../scripts/support/tpch-policies.mjs';
import { barTable } from './runner/bars.mjs';
import { benches } from './runner/benches.mjs';
import { startFragments, startOneWorker } from './runner/start-fragments.mjs';
import { startKeycloakService } from './runner/start-keycloak-service.mjs';
import { startLake } from './runner/start-lake.mjs';
import { startSail } from './runner/start-sail.mjs';
import { startTlsProxy } from './runner/start-tls-proxy.mjs';

const root = path.resolve(import.meta.dirname, '..');
const programTimeoutMs = 60 * 60_000;
/** Of an engine, where a benchmark writes more than that. */
const limitBytes = 256 * 2 ** 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `No benchmark is named ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}
const wanted = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const python = await pythonEnvironment('clients', path.join(root, 'test', 'peers', 'requirements.txt'));
const folder = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
const cache = cacheFolder();
const results = [];
try {
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.versions.node}`,
  );
  await mustRun([path.join(import.meta.dirname, 'clients', 'tpch_data.py'), cache, values.scale]);
  for (const bench of wanted) results.push(await run(bench));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const bars = results.flatMap((result) => result.bars);
console.log(`\n${barTable(bars)}`);
if (values.json !== undefined)
  writeFileSync(
    values.json,
    `${JSON.stringify({ runs: Number(values.runs), scale: Number(values.scale), results }, undefined, 2)}\n`,
  );
process.exitCode = bars.every((bar) => bar.passes) ? 0 : 1;

async function run(bench) {
  console.log(`\n== ${bench.name}`);
  const samples = bench.script === undefined ? await runProgram(bench) : await runScript(bench);
  const { details, bars } = bench.read(samples);
  console.log(details);
  return { name: bench.name, bars, samples };
}

/** The lines that a benchmark of its own prints. Its exit code repeats what the bars say. */
async function runScript(bench) {
  const lines = [];
  const script = path.join(import.meta.dirname, bench.script);
  const result = await runCommand(process.execPath, [script, '--python', python], {
    cwd: root,
    timeoutMs: programTimeoutMs,
    onLine: (line) => lines.push(line),
  });
  if (result.code > 1 || lines.length === 0)
    throw new Error(`${bench.script} ended with ${result.code}:\n${result.output.slice(-4000)}`);
  return lines;
}

async function runProgram(bench) {
  const home = path.join(folder, bench.name);
  mkdirSync(home);
  const stops = [];
  try {
    const given = {
      folder: path.join(cache, `tpch-sf${Number(values.scale)}`),
      runs: Number(values.runs),
      node: process.execPath,
      svc: path.join(root, 'packages', 'cli', 'dist', 'bundle', 'main.mjs'),
      engine_ingest: path.join(import.meta.dirname, 'runner', 'engine-ingest.mjs'),
    };
    for (const need of bench.needs) {
      const { facts, stop } = await start(need, home, given.folder);
      stops.push(stop);
      given[need.split(' ')[0]] = facts;
    }
    const answer = await mustRun([
      path.join(import.meta.dirname, 'clients', bench.program),
      JSON.stringify(given),
    ]);
    return JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '');
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Starts one of the servers a benchmark may need; answers what its client program is told. */
async function start(need, home, tpch) {
  const own = path.join(home, need);
  mkdirSync(own);
  const secured = need === 'sail with tls';
  if (need === 'sail' || secured) {
    const sail = await startSail(
      await pythonEnvironment('sail', path.join(import.meta.dirname, 'requirements.txt')),
      own,
    );
    if (!secured) return { facts: { port: sail.port, pid: sail.pid }, stop: sail.stop };
    const proxy = await startTlsProxy(sail.port, own);
    const stop = () => {
      proxy.stop();
      sail.stop();
    };
    return {
      facts: {
        port: sail.port,
        pid: sail.pid,
        tls: { port: proxy.port, pid: proxy.pid, roots: proxy.roots },
      },
      stop,
    };
  }
  if (need === 'keycloak') return await startKeycloakService(root, own);
  if (need === 'worker') return await startOneWorker({ root, folder: own });
  const startOnLake = { lake: startLake, fragments: startFragments }[need];
  if (startOnLake !== undefined)
    return await startOnLake({
      ...{ root, folder: own, data: path.join(cache, `lake-sf${Number(values.scale)}`) },
      load: (url) => mustRun([path.join(import.meta.dirname, 'clients', 'lake_data.py'), url, tpch]),
    });
  const warehouse = { 'catalog.path': path.join(tpch, 'warehouse') };
  const tls = need === 'secured' ? await makeCertificate(own) : undefined;
  const policies = need === 'policies' ? writeTpchPolicies(root, path.join(own, 'policies')) : undefined;
  const ownWarehouse = path.join(own, 'warehouse');
  const settings = {
    samples: {},
    catalog: { 'catalog.path': ownWarehouse },
    limited: { ...warehouse, 'query.memory_limit': limitBytes },
    service: warehouse,
    policies: { ...warehouse, ...policies?.settings },
    contexts: { ...warehouse, 'coordinator.session_context_cache_ttl_secs': 3600 },
    secured: { ...warehouse, ...(tls && { 'server.tls_cert': tls.certificate, 'server.tls_key': tls.key }) },
  }[need];
  const service = await startService({ root, folder: own, settings });
  const facts = {
    host: service.host,
    flight_port: service.flightPort,
    username: service.username,
    password: service.password,
    pid: service.pid,
    warehouse: ownWarehouse,
    memory_limit: limitBytes,
    ...(policies && { tokens: policies.tokens }),
    tls_roots: tls === undefined ? null : readFileSync(tls.certificate, 'utf8'),
  };
  return { facts, stop: service.stop };
}

/** Runs a Python program; its progress is shown, its standard output answered. */
async function mustRun(args) {
  const lines = [];
  const result = await runCommand(python, args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: '1' },
    timeoutMs: programTimeoutMs,
    onLine: (line) => lines.push(line),
    onErrorLine: (line) => console.log(`   ${line}`),
  });
  if (result.code !== 0)
    throw new Error(`${args[0]} ended with ${result.code}:\n${result.output.slice(-4000)}`);
  return lines.join('\n');
}

function pythonPath() {
  const peers = path.join(root, 'test', 'peers');
  return [path.join(import.meta.dirname, 'clients'), peers, path.join(peers, 'clients')].join(path.delimiter);
}

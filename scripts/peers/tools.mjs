// What the peer tests need before the service starts: clients, certificates, tables.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findFiles } from '../support/find-files.mjs';
import { cacheFolder, jdbcDriverJar, mavenJars, pythonEnvironment } from '../support/peer-environment.mjs';
import { runCommand } from '../support/run-command.mjs';
import { writeTpchPolicies } from '../support/tpch-policies.mjs';
import { makeCertificate } from './certificate.mjs';

const tpchScale = '0.05';

/** Installs what is missing, writes the tables; each step is reported, and a failing one ends the run. */
export async function prepareTools({ root, folder, report }) {
  const peersFolder = path.join(root, 'test', 'peers');
  const step = async (name, action) => {
    const began = performance.now();
    const value = await action();
    report({ name: `set-up: ${name}`, ok: true, seconds: (performance.now() - began) / 1000 });
    return value;
  };
  const python = await step('Python clients', () =>
    pythonEnvironment('clients', path.join(peersFolder, 'requirements.txt')),
  );
  const jar = await step('JDBC driver', jdbcDriverJar);
  const iceberg = await step('Iceberg Java', () => icebergJars(peersFolder));
  const javaClasses = path.join(folder, 'java-classes');
  await step('Java programs', () => compileJava(peersFolder, javaClasses));
  const { certificate, key } = await step('certificate', () => makeCertificate(folder));
  const tables = path.join(folder, 'tables');
  await step('tables by pyiceberg', () =>
    mustRun(python, [path.join(peersFolder, 'tables', 'write_tables.py'), tables]),
  );
  const tpch = path.join(cacheFolder(), `tpch-sf${tpchScale}`);
  await step('TPC-H tables by pyiceberg', () =>
    mustRun(python, [path.join(root, 'bench', 'clients', 'tpch_data.py'), cacheFolder(), tpchScale]),
  );
  return {
    python,
    jar,
    iceberg,
    javaClasses,
    certificate,
    key,
    roots: readFileSync(certificate, 'utf8'),
    tables,
    tpch,
    policies: writeTpchPolicies(root, path.join(folder, 'policies')),
    root,
    peersFolder,
  };
}

/** The folder with what the Java reader of written tables runs on. */
export function icebergJars(peersFolder) {
  const folder = path.join(peersFolder, 'written');
  return mavenJars('iceberg', path.join(folder, 'iceberg.pom.xml'), path.join(folder, 'iceberg.sha256'));
}

/** Clients need nothing but the JDK: the driver is found at run time. The reader of written tables and servers are compiled where they run. */
async function compileJava(peersFolder, target) {
  const isClient = (file) => file.endsWith('.java') && !/^(written|servers|shapes)\b/.test(file);
  const sources = findFiles(peersFolder, '.', isClient);
  const files = sources.map((file) => path.join(peersFolder, file));
  await mustRun('javac', ['-Xlint:all', '-Werror', '-d', target, ...files]);
}

async function mustRun(command, args) {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const result = await runCommand(command, args, { env, timeoutMs: 10 * 60_000 });
  if (result.code !== 0)
    throw new Error(`${command} ended with ${result.code}:\n${result.output.slice(-4000)}`);
}

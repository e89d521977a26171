/**
 * Installs the real clients and servers outside the tree, once: Python environments with hashed requirements, the JDBC
 * driver, Iceberg Java, MinIO, Keycloak, Trino, Nessie.
 *
 * Cache folder: `$SVC_CACHE`, else `svc-peers` in `$XDG_CACHE_HOME` or `~/.cache`. It may be deleted at any time while
 * nothing runs. Every entry is made aside and renamed into place under a name that holds its version or the hash of its
 * requirements: a half-made one is never seen, and two installers at once at worst do the work twice.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from './run-command.mjs';

const installTimeoutMs = 20 * 60_000;
const jdbcDriver = {
  artifact: 'org.apache.arrow:flight-sql-jdbc-driver:18.3.0',
  file: 'flight-sql-jdbc-driver-18.3.0.jar',
  sha256: '3f418b46c880e263558c5de669bdbede2c5d4375527ced116fb29f795b03704c',
};
const keycloakVersion = '26.7.3';
const keycloakSha256 = '77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47';
const minioVersion = 'v0.0.0-20260212201848-7aac2a2c5b7c';
const trinoVersion = '476';
const trinoSha256 = 'cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f';
const nessie = {
  artifact: 'org.projectnessie.nessie:nessie-quarkus:0.99.0:jar:runner',
  file: 'nessie-quarkus-0.99.0-runner.jar',
  sha256: 'ce9fa33e2878bf5ea3981876b9e6204cabc0362b3dd82326b10e47271a78c417',
};
const mavenPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/** Where everything that is not made by `npm ci` lies. Created when absent. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const folder = path.resolve(process.env.SVC_CACHE || path.join(base, 'svc-peers'));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * A virtual environment with exactly the packages of a hashed requirements file; answers the path of its python.
 * Call its programs as `python -m`: their start lines name the folder they were made in.
 */
export async function pythonEnvironment(name, requirements) {
  const hash = sha256(readFileSync(requirements)).slice(0, 12);
  const target = path.join(cacheFolder(), `python-${name}-${hash}`);
  await installed(target, async (staging) => {
    console.log(`Installing the Python environment "${name}" …`);
    await mustRun(basePython(), ['-m', 'venv', staging]);
    const python = path.join(staging, 'bin', 'python');
    await mustRun(
      python,
      ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary=:all:', '-r', requirements],
      {
        PIP_DISABLE_PIP_VERSION_CHECK: '1',
        PIP_CACHE_DIR: path.join(cacheFolder(), 'pip'),
      },
    );
  });
  return path.join(target, 'bin', 'python');
}

/** The pinned Flight SQL JDBC driver, by Maven; answers the path of its jar. */
export const jdbcDriverJar = () => mavenJar('the JDBC driver', jdbcDriver);

/**
 * MinIO, built from the Go module proxy, whose checksum database vouches for the sources: there is no binary to download.
 * Answers the path of the program. Building takes about four minutes of CPU, once.
 */
export async function minioProgram() {
  const target = path.join(cacheFolder(), `minio-${minioVersion}`);
  await installed(target, async (staging) => {
    console.log('Building MinIO (minutes, once) …');
    const go = `${staging}-go`;
    await mustRun('go', ['install', '-modcacherw', `github.com/minio/minio@${minioVersion}`], {
      GOBIN: staging,
      GOPATH: go,
      GOMODCACHE: path.join(go, 'mod'),
      GOCACHE: path.join(go, 'build'),
    });
  });
  return path.join(target, 'minio');
}

/**
 * Keycloak, by Maven, and built once for how `test/peers/servers/keycloak.mjs` runs it; answers the folder it is in.
 * Building takes half a minute of CPU.
 */
export async function keycloakFolder() {
  const name = `keycloak-${keycloakVersion}`;
  const target = path.join(cacheFolder(), name);
  await installed(target, async (staging) => {
    console.log('Fetching and building Keycloak …');
    const archives = `${staging}-archives`;
    const file = `keycloak-quarkus-dist-${keycloakVersion}.tar.gz`;
    const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:tar.gz`;
    await maven('copy', [`-Dartifact=${artifact}`, `-DoutputDirectory=${archives}`]);
    checkHashes(archives, `${keycloakSha256}  ${file}`);
    await mustRun('tar', ['-xzf', path.join(archives, file), '-C', path.dirname(staging)]);
    await mustRun(path.join(staging, 'bin', 'kc.sh'), ['build', '--db=dev-mem']);
  });
  return target;
}

/**
 * Trino, by Maven; answers the folder it is in. The archive has 820 MB and more than 50 plugins: only the one that writes
 * tables is kept, and Maven's copy is not.
 */
export async function trinoFolder() {
  const name = `trino-server-${trinoVersion}`;
  const target = path.join(cacheFolder(), name);
  await installed(target, async (staging) => {
    console.log('Fetching Trino (minutes, once) …');
    const archives = `${staging}-archives`;
    const artifact = `io.trino:trino-server:${trinoVersion}:tar.gz`;
    await maven('copy', [`-Dartifact=${artifact}`, `-DoutputDirectory=${archives}`]);
    rmSync(path.join(mavenRepository(), 'io', 'trino', 'trino-server'), { recursive: true, force: true });
    checkHashes(archives, `${trinoSha256}  ${name}.tar.gz`);
    await mustRun('tar', ['-xzf', path.join(archives, `${name}.tar.gz`), '-C', path.dirname(staging)]);
    // Afterwards: jars that several plugins have are links to those of the first.
    for (const plugin of readdirSync(path.join(staging, 'plugin')))
      if (plugin !== 'iceberg') rmSync(path.join(staging, 'plugin', plugin), { recursive: true });
  });
  return target;
}

/** The catalog Nessie, by Maven; answers the path of its jar. */
export const nessieJar = () => mavenJar('Nessie', nessie);

async function mavenJar(name, { artifact, file, sha256 }) {
  const target = path.join(cacheFolder(), path.parse(file).name);
  await installed(target, async (staging) => {
    console.log(`Fetching ${name} …`);
    mkdirSync(staging);
    await maven('copy', [`-Dartifact=${artifact}`, `-DoutputDirectory=${staging}`]);
    checkHashes(staging, `${sha256}  ${file}`);
  });
  return path.join(target, file);
}

/** All jars that a POM resolves to, which must be those of a list made by sha256sum; answers the folder they are in. */
export async function mavenJars(name, pom, hashes) {
  const list = readFileSync(hashes, 'utf8');
  const hash = sha256(readFileSync(pom, 'utf8') + list).slice(0, 12);
  const target = path.join(cacheFolder(), `jars-${name}-${hash}`);
  await installed(target, async (staging) => {
    console.log(`Fetching the jars of "${name}" …`);
    await maven('copy-dependencies', [
      `--file=${pom}`,
      '-DincludeScope=runtime',
      `-DoutputDirectory=${staging}`,
    ]);
    checkHashes(staging, list);
  });
  return target;
}

function maven(goal, args) {
  const repository = `-Dmaven.repo.local=${mavenRepository()}`;
  return mustRun('mvn', ['--batch-mode', '--quiet', repository, `${mavenPlugin}:${goal}`, ...args]);
}

function mavenRepository() {
  return path.join(cacheFolder(), 'maven');
}

/** The folder must hold exactly the files of the list, as sha256sum writes it. */
function checkHashes(folder, list) {
  const expected = list.trim().split('\n');
  const actual = readdirSync(folder).map(
    (file) => `${sha256(readFileSync(path.join(folder, file)))}  ${file}`,
  );
  const wrong = actual.filter((line) => !expected.includes(line));
  const missing = expected.filter((line) => !actual.includes(line));
  if (wrong.length + missing.length > 0)
    throw new Error(`Fetched:\n${wrong.join('\n')}\nExpected instead:\n${missing.join('\n')}`);
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex');
}

/** Makes `target` by `make(staging)` unless it is there. */
export async function installed(target, make) {
  if (existsSync(target)) return;
  const scratch = mkdtempSync(path.join(cacheFolder(), '.staging-'));
  try {
    const staging = path.join(scratch, path.basename(target));
    await make(staging);
    renameSync(staging, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs a step of an installation; answers what it printed. */
export async function mustRun(command, args, env = {}) {
  const result = await runCommand(command, args, {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
    timeoutMs: installTimeoutMs,
  });
  if (result.code === 0) return result.output;
  throw new Error(`${command} ${args.join(' ')} ended with ${result.code}:\n${result.output.slice(-4000)}`);
}

function basePython() {
  return process.env.PYTHON || 'python3';
}

// Keycloak on a free port of this machine, its database in memory: a real OpenID Connect provider with two realms.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../../scripts/support/free-ports.mjs';
import { keycloakFolder } from '../../../scripts/support/peer-environment.mjs';
import { briefSeconds, clients, realm, shortLivedRealm, shortLivedUsers, users } from './keycloak-realms.mjs';
import { host, isAnswering, startServer } from './server-process.mjs';

const readyTimeoutMs = 300_000;
const admin = { username: 'root', password: 'root-pw' };

/**
 * Answers `{ url, realm, shortLivedRealm, users, shortLivedUsers, clientId, clientSecret, publicClientId, briefClientId,
 * briefSeconds, admin, stop() }`; realms are by name, `admin` is who may change them. What it keeps and its log lie in `folder`.
 *
 * Starting takes 20 s of two cores. Signing keys and what was issued are new at each start.
 */
export async function startKeycloak(folder) {
  const installation = await keycloakFolder();
  const home = path.join(folder, 'home');
  mkdirSync(path.join(home, 'data', 'import'), { recursive: true });
  // It wants to write beside its programs: a home of its own keeps the installation as it is.
  for (const part of ['lib', 'conf', 'providers', 'themes'])
    symlinkSync(path.join(installation, part), path.join(home, part));
  for (const each of [realm, shortLivedRealm])
    writeFileSync(path.join(home, 'data', 'import', `${each.realm}.json`), JSON.stringify(each));
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const { stop } = await startServer({
    name: 'Keycloak',
    command: 'java',
    args: [
      ...javaArguments(home),
      ...['start', '--optimized', '--import-realm', '--cache=local'],
      ...['--http-enabled=true', `--http-host=${host}`, `--http-port=${port}`, '--hostname-strict=false'],
    ],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      KC_BOOTSTRAP_ADMIN_USERNAME: admin.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: admin.password,
    },
    log: path.join(folder, 'keycloak.log'),
    isReady: () => areImported(url),
    readyTimeoutMs,
  });
  return {
    url,
    realm: realm.realm,
    shortLivedRealm: shortLivedRealm.realm,
    users,
    shortLivedUsers,
    ...clients,
    briefSeconds,
    admin,
    stop,
  };
}

async function areImported(url) {
  for (const each of [realm, shortLivedRealm])
    if (!(await isAnswering(`${url}/realms/${each.realm}/.well-known/openid-configuration`))) return false;
  return true;
}

/** What its start script gives Java, without the script between us and the process. */
function javaArguments(home) {
  return [
    ...['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', `-Djava.io.tmpdir=${home}`],
    ...['-Dfile.encoding=UTF-8', '-Duser.language=en', '-Duser.country=US'],
    ...[`-Dkc.home.dir=${home}`, `-Djboss.server.config.dir=${path.join(home, 'conf')}`],
    '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
    '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
    ...['util', 'util.concurrent', 'security', 'lang'].map(
      (name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`,
    ),
    ...['-cp', path.join(home, 'lib', 'quarkus-run.jar'), 'io.quarkus.bootstrap.runner.QuarkusEntryPoint'],
  ];
}

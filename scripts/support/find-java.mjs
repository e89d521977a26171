// Finds a Java of a version, where `java` on the PATH is too old for a server.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * The program `java` of the lowest version from `minVersion` on, among JAVA_HOME, the Java on the PATH and the folders beside
 * those two, where packages put each version.
 */
export function javaFrom(minVersion, env = process.env) {
  const homes = [env.JAVA_HOME, ...homesOnPath(env.PATH ?? '')].filter(Boolean);
  const all = new Set(homes.flatMap((home) => [home, ...siblingsOf(home)]).map(realPath));
  const found = [...all].map((home) => ({ home, version: versionOf(home) }));
  const fit = found.filter(({ version }) => version >= minVersion).sort((a, b) => a.version - b.version);
  if (fit[0] !== undefined) return path.join(fit[0].home, 'bin', 'java');
  const seen = found.filter(({ version }) => version > 0).map(({ home, version }) => `${version} in ${home}`);
  throw new Error(
    `Java ${minVersion} or later is needed. Install one beside the Java on the PATH, or set JAVA_HOME; there is ${seen.join(', ') || 'none'}.`,
  );
}

function homesOnPath(searchPath) {
  return searchPath
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'java'))
    .filter(existsSync)
    .map((java) => path.dirname(path.dirname(realpathSync(java))));
}

function siblingsOf(home) {
  const folder = path.dirname(realPath(home));
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
}

function realPath(home) {
  return existsSync(home) ? realpathSync(home) : home;
}

/** 0 where there is no Java. */
function versionOf(home) {
  const release = path.join(home, 'release');
  if (!existsSync(path.join(home, 'bin', 'java')) || !existsSync(release)) return 0;
  return Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(release, 'utf8'))?.[1] ?? 0);
}

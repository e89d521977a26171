/**
 * Debian's packages unpacked into a folder of ours, which takes no rights and changes nothing outside it. apt checks their
 * signatures; the versions are those of the distribution.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { mustRun } from './peer-environment.mjs';

/** What the machine has already is not fetched: it is found where the machine keeps it. */
export async function unpackDebianPackages(folder, packages) {
  const archives = path.join(folder, 'archives');
  mkdirSync(path.join(archives, 'partial'), { recursive: true });
  const lists = path.join(folder, 'lists');
  mkdirSync(path.join(lists, 'partial'), { recursive: true });
  const options = [`Dir::State::Lists=${lists}`, `Dir::Cache::Archives=${archives}`, 'Debug::NoLocking=true'];
  const apt = (...args) =>
    mustRun('apt-get', [...options.flatMap((option) => ['-o', option]), '-q', ...args]);
  await apt('update');
  await apt('install', '--yes', '--no-install-recommends', '--download-only', ...packages);
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
    await mustRun('dpkg-deb', ['--extract', path.join(archives, file), folder]);
  for (const each of [archives, lists]) rmSync(each, { recursive: true });
}

/** Where the unpacked libraries of this kind of machine are. */
export function machineLibraries(folder) {
  const lib = path.join(folder, 'usr', 'lib');
  const machine = readdirSync(lib).find((name) => name.endsWith('-linux-gnu')) ?? '';
  return path.join(lib, machine);
}

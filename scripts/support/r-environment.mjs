/**
 * R with the package reticulate, to run what R users write: the machine's own, or Debian's packages unpacked into the cache
 * folder, which takes no rights and changes nothing outside it. apt checks their signatures; the versions are those of the
 * distribution.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, installed, mustRun } from './peer-environment.mjs';
import { runCommand } from './run-command.mjs';

const packages = ['r-base-core', 'r-cran-reticulate'];

/** Answers `{ command, args, env }`, to which the arguments of R are added. */
export async function rEnvironment() {
  const own = await runCommand('Rscript', ['-e', 'stopifnot(requireNamespace("reticulate"))']);
  if (own.code === 0) return { command: 'R', args: [], env: {} };
  const target = path.join(cacheFolder(), 'r-debian');
  await installed(target, async (staging) => {
    console.log('Unpacking R …');
    await unpack(staging);
    placeSettings(staging);
  });
  return unpackedR(target);
}

async function unpack(staging) {
  const archives = path.join(staging, 'archives');
  mkdirSync(path.join(archives, 'partial'), { recursive: true });
  const lists = path.join(staging, 'lists');
  mkdirSync(path.join(lists, 'partial'), { recursive: true });
  const options = [`Dir::State::Lists=${lists}`, `Dir::Cache::Archives=${archives}`, 'Debug::NoLocking=true'];
  const apt = (...args) =>
    mustRun('apt-get', [...options.flatMap((option) => ['-o', option]), '-q', ...args]);
  await apt('update');
  // What the machine has already is not fetched: it is found where the machine keeps it.
  await apt('install', '--yes', '--no-install-recommends', '--download-only', ...packages);
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
    await mustRun('dpkg-deb', ['--extract', path.join(archives, file), staging]);
  for (const folder of [archives, lists]) rmSync(folder, { recursive: true });
}

/** What the packages' own installation would do: R's settings lie in /etc, where links point to. */
function placeSettings(staging) {
  const settings = path.join(staging, 'usr', 'lib', 'R', 'etc');
  copyFileSync(path.join(settings, 'Renviron.ucf'), path.join(staging, 'etc', 'R', 'Renviron'));
  for (const entry of readdirSync(settings, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const link = path.join(settings, entry.name);
    const pointsTo = readlinkSync(link);
    rmSync(link);
    symlinkSync(path.relative(settings, path.join(staging, pointsTo)), link);
  }
}

/** The program itself: the script that usually starts it knows one place only. */
function unpackedR(root) {
  const lib = path.join(root, 'usr', 'lib');
  const home = path.join(lib, 'R');
  const machine = readdirSync(lib).find((name) => name.endsWith('-linux-gnu')) ?? '';
  const libraries = [path.join(home, 'lib'), path.join(lib, machine)];
  for (const name of ['blas', 'lapack']) libraries.push(path.join(lib, machine, name));
  return {
    command: path.join(home, 'bin', 'exec', 'R'),
    args: [],
    env: {
      R_HOME: home,
      R_SHARE_DIR: path.join(root, 'usr', 'share', 'R', 'share'),
      R_LIBS: path.join(home, 'site-library'),
      LD_LIBRARY_PATH: libraries.filter((folder) => existsSync(folder)).join(path.delimiter),
    },
  };
}

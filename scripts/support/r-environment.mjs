/** R with the package reticulate, to run what R users write: the machine's own, or Debian's. */
import { copyFileSync, existsSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { machineLibraries, unpackDebianPackages } from './debian-packages.mjs';
import { cacheFolder, installed } from './peer-environment.mjs';
import { runCommand } from './run-command.mjs';

const packages = ['r-base-core', 'r-cran-reticulate'];

/** Answers `{ command, args, env }`, to which the arguments of R are added. */
export async function rEnvironment() {
  const own = await runCommand('Rscript', ['-e', 'stopifnot(requireNamespace("reticulate"))']);
  if (own.code === 0) return { command: 'R', args: [], env: {} };
  const target = path.join(cacheFolder(), 'r-debian');
  await installed(target, async (staging) => {
    console.log('Unpacking R …');
    await unpackDebianPackages(staging, packages);
    placeSettings(staging);
  });
  return unpackedR(target);
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
  const home = path.join(root, 'usr', 'lib', 'R');
  const machine = machineLibraries(root);
  const libraries = [path.join(home, 'lib'), machine];
  for (const name of ['blas', 'lapack']) libraries.push(path.join(machine, name));
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

// Installs the real clients (and with `--bench` the peers of the benchmarks) ahead of `npm run test:peers`, which would
// do the same. Prints where they lie.
import path from 'node:path';
import { icebergJars } from './peers/tools.mjs';
import {
  jdbcDriverJar,
  keycloakFolder,
  minioProgram,
  nessieJar,
  pythonEnvironment,
  trinoFolder,
} from './support/peer-environment.mjs';
import { redisPrograms } from './support/redis-programs.mjs';

const root = path.resolve(import.meta.dirname, '..');

console.log(await pythonEnvironment('clients', path.join(root, 'test', 'peers', 'requirements.txt')));
console.log(await jdbcDriverJar());
console.log(await minioProgram());
console.log(await keycloakFolder());
console.log(await trinoFolder());
console.log(await nessieJar());
console.log((await redisPrograms()).server);
console.log(await icebergJars(path.join(root, 'test', 'peers')));
if (process.argv.includes('--bench'))
  console.log(await pythonEnvironment('sail', path.join(root, 'bench', 'requirements.txt')));

/** Redis: the machine's own, or Debian's. */
import path from 'node:path';
import { machineLibraries, unpackDebianPackages } from './debian-packages.mjs';
import { cacheFolder, installed } from './peer-environment.mjs';
import { runCommand } from './run-command.mjs';

/** Answers `{ server, cli, env }`: the paths of both programs, and what their environment needs. */
export async function redisPrograms() {
  const own = await runCommand('redis-server', ['--version']);
  const ownCli = await runCommand('redis-cli', ['--version']);
  if (own.code === 0 && ownCli.code === 0) return { server: 'redis-server', cli: 'redis-cli', env: {} };
  const target = path.join(cacheFolder(), 'redis-debian');
  await installed(target, async (staging) => {
    console.log('Unpacking Redis …');
    await unpackDebianPackages(staging, ['redis-server', 'redis-tools']);
  });
  const bin = path.join(target, 'usr', 'bin');
  return {
    server: path.join(bin, 'redis-server'),
    cli: path.join(bin, 'redis-cli'),
    env: { LD_LIBRARY_PATH: machineLibraries(target) },
  };
}

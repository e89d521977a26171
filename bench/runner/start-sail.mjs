// Sail's Flight SQL server, the peer that answers the same statements over the same files.
import { spawn } from 'node:child_process';
import { freePort } from '../../scripts/support/free-ports.mjs';
import { endGroupWithUs, killGroup } from '../../scripts/support/run-command.mjs';
import { accepts } from './ports.mjs';

const startTimeoutMs = 30_000;

/** Answers `{ port, pid, stop }` once it accepts connections. */
export async function startSail(python, folder) {
  const port = await freePort();
  const child = spawn(python, ['-m', 'pysail', 'flight', 'server', '--port', String(port)], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
  });
  const forget = endGroupWithUs(child);
  const stop = () => {
    killGroup(child, 'SIGKILL');
    forget();
  };
  const deadline = Date.now() + startTimeoutMs;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      stop();
      throw new Error('Sail did not start.');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { port, pid: child.pid, stop };
}

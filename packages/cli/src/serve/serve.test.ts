import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../main.js', import.meta.url));

it('stops cleanly when Ctrl-C comes while it is starting', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-serve-'));
  try {
    const config = join(folder, 'svc.toml');
    await writeFile(
      config,
      '[server]\ndata_dir = "data"\nflight_port = 0\n[metrics]\nprometheus_port = 0\n[samples]\nenabled = false\n',
    );
    const child = spawn(process.execPath, [program, 'serve', '--config', config], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const ended = new Promise<number | string | null>((resolve) => {
      child.once('close', (code, signal) => resolve(signal ?? code));
    });
    // The password is the first thing that starting makes: engine hosts and listeners are still to come.
    await until(() => existsSync(join(folder, 'data', 'local-password')) || child.exitCode !== null);
    child.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.match(output, /received SIGINT: draining.*"message":"stopped"/s);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

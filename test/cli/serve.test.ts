import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFlightClient } from '@svc/flight';

const program = new URL('../../../packages/cli/dist/bundle/main.mjs', import.meta.url).pathname;
const freePorts = '[server]\nflight_port = 0\ndrain_timeout_secs = 20\n[metrics]\nprometheus_port = 0\n';

describe('svc serve', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-serve-'));
  });

  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('makes the sample table, says what listens where, and answers; Ctrl-C ends it with nothing left running', async () => {
    await using first = await start(folder, freePorts);
    assert.match(first.stderr(), /making the sample table samples\.flights/);
    assert.match(first.stderr(), /Flight SQL +grpc:\/\/127\.0\.0\.1:\d+/);
    assert.match(first.stderr(), /Three things to try/);
    const passwordPath = join(folder, '.svc', 'local-password');
    assert.equal((await stat(passwordPath)).mode & 0o777, 0o600);
    assert.ok(first.stderr().includes(passwordPath));

    const client = createFlightClient({ host: '127.0.0.1', port: first.port() });
    try {
      await client.signIn('local', (await readFile(passwordPath, 'utf8')).trim());
      const { tickets } = await client.planStatement('SELECT count(*) FROM samples.flights');
      const messages: unknown[] = [];
      for await (const message of client.read(tickets[0] ?? new Uint8Array())) messages.push(message);
      assert.equal(messages.length, 2, 'a schema and a batch');
    } finally {
      client.close();
    }

    const children = await childrenOf(first.process);
    assert.ok(children.length > 0);
    first.process.kill('SIGINT');
    assert.deepEqual(await first.exit, [0, null]);
    for (const line of first.stdout().trim().split('\n'))
      assert.equal(typeof JSON.parse(line).timestamp, 'string');
    assert.deepEqual(children.filter(isRunning), []);

    await using second = await start(folder, freePorts);
    assert.doesNotMatch(second.stderr(), /making the sample table/);
  });

  it('ends as cleanly when Ctrl-C comes while it is starting', async () => {
    const fresh = await mkdtemp(join(folder, 'fresh-'));
    await using service = await launch(fresh, freePorts);
    // The password is the first thing that starting makes: engine hosts and listeners are still to come.
    const hasBegun = () => existsSync(join(fresh, '.svc', 'local-password'));
    await until(() => hasBegun() || service.process.exitCode !== null);
    service.process.kill('SIGINT');
    assert.deepEqual(await service.exit, [0, null]);
    assert.match(service.stdout(), /received SIGINT: draining.*"message":"stopped"/s);
  });

  it('goes on in a new audit log on SIGHUP, and takes no notice of it without one', async () => {
    const path = join(folder, 'audit.jsonl');
    for (const toml of [`audit_log_path = "${path}"\n`, '']) {
      await using service = await start(folder, `${freePorts}${toml}`);
      const client = createFlightClient({ host: '127.0.0.1', port: service.port() });
      try {
        await client.signIn('local', (await readFile(join(folder, '.svc', 'local-password'), 'utf8')).trim());
        await client.update('CREATE SCHEMA IF NOT EXISTS first');
        if (toml !== '') await rename(path, `${path}.1`);
        service.process.kill('SIGHUP');
        if (toml !== '') await until(() => existsSync(path));
        await client.update('CREATE SCHEMA IF NOT EXISTS second');
      } finally {
        client.close();
      }
      service.process.kill('SIGTERM');
      assert.deepEqual(await service.exit, [0, null]);
    }
    // Lines are gathered for a moment: that of the first statement may be in either file, and is whole in one of them.
    const [old, current] = [await readFile(`${path}.1`, 'utf8'), await readFile(path, 'utf8')];
    assert.match(old + current, /^{[^\n]* first"[^\n]*}\n{[^\n]* second"[^\n]*}\n$/);
    assert.match(current, / second"[^\n]*}\n$/);
  });

  it('stops at once on a second Ctrl-C, whatever runs', async () => {
    await using service = await start(folder, freePorts);
    const client = createFlightClient({ host: '127.0.0.1', port: service.port() });
    try {
      await client.signIn('local', (await readFile(join(folder, '.svc', 'local-password'), 'utf8')).trim());
      const { tickets } = await client.planStatement(
        'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3',
      );
      const reading = readAll(client.read(tickets[0] ?? new Uint8Array())).catch(() => undefined);
      const children = await childrenOf(service.process);
      service.process.kill('SIGINT');
      await until(() => service.stderr().includes('Draining'));
      service.process.kill('SIGINT');
      assert.deepEqual(await service.exit, [1, null]);
      await reading;
      assert.deepEqual(children.filter(isRunning), []);
    } finally {
      client.close();
    }
  });

  for (const [what, toml, expected] of [
    ['an unknown key', '[server]\nflihgt_port = 1\n', /server\.flihgt_port.*server\.flight_port/s],
    ['a feature that is not built', '[metrics]\nweb_ui = true\n', /metrics\.web_ui/],
    [
      'an address beyond loopback without sign-in',
      '[server]\nbind_address = "0.0.0.0"\n',
      /server\.bind_address.*auth/s,
    ],
    ['a port that is no port', '[server]\nflight_port = 70000\n', /server\.flight_port/],
  ] as const) {
    it(`refuses to start with ${what}, by name`, async () => {
      await using service = await launch(folder, toml);
      assert.deepEqual(await service.exit, [1, null]);
      assert.match(service.stderr(), /\[CONFIGURATION_ERROR\]/);
      assert.match(service.stderr(), expected);
      assert.equal(service.stdout(), '');
    });
  }
});

interface Service extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Exit code and signal. */
  readonly exit: Promise<readonly unknown[]>;
  stdout(): string;
  stderr(): string;
  port(): number;
}

async function start(folder: string, toml: string): Promise<Service> {
  const service = await launch(folder, toml);
  await until(() => service.stderr().includes('Ctrl-C stops') || service.process.exitCode !== null);
  assert.equal(service.process.exitCode, null, service.stderr());
  return service;
}

async function launch(folder: string, toml: string): Promise<Service> {
  const config = join(folder, 'svc-test.toml');
  await writeFile(config, toml);
  const child = spawn(process.execPath, [program, 'serve', '--config', config], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
  });
  const exit = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    process: child,
    exit,
    stdout: () => stdout,
    stderr: () => stderr,
    port: () => Number(/grpc:\/\/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1]),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function readAll(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of messages);
}

async function childrenOf(parent: ChildProcess): Promise<readonly number[]> {
  const text = await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('The condition did not come true within 30 s.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

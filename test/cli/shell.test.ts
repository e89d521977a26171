import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readProcessEnvironment } from '@svc/base';
import { svcProgram, until } from './support/svc.js';

/** util-linux's program that gives another one a terminal. */
const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const prompt = 'svc> ';
const ctrlC = '\u0003';
const ctrlD = '\u0004';

describe('the shell', { skip: hasScript ? false : 'there is no util-linux script for a terminal' }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-shell-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('runs statements of several lines, completes names, and keeps its history', async () => {
    await using shell = await startShell(folder);
    await shell.type("SELECT 'a;\n", "'  > ");
    await shell.type("b' AS x,\n", '-  > ');
    await shell.type('2 AS y;\n', 'Time: ', prompt);
    assert.match(shell.text(), / a;\\nb │ 2/);
    await shell.type('select * from sam\t', 'samples');
    await shell.type('.fl\t', 'flights');
    await shell.type(' where ori\t', 'origin');
    await shell.type(" = 'LAS' limit 1;\n", '(1 row)', prompt);
    await shell.type('\\d samples.flights\n', 'destination │ VARCHAR', prompt);
    await shell.type(ctrlD);
    assert.deepEqual(await shell.exit, [0, null]);
    const history = join(folder, 'history');
    assert.equal((await stat(history)).mode & 0o777, 0o600);
    assert.equal((await readFile(history, 'utf8')).split('\n')[2], '2 AS y;');
  });

  it('ends the statement at Ctrl-C and not itself, and says how to leave', async () => {
    await using shell = await startShell(folder);
    await shell.type(ctrlC, 'Ctrl-D or \\q leaves.', prompt);
    await shell.type('SELECT 1 +\n', '-  > ');
    await shell.type(ctrlC, prompt);
    await shell.type(
      'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3;\n',
      ' s',
    );
    await shell.type(ctrlC, '[CANCELLED]', prompt);
    await shell.type('SELECT 41 + 1 AS answer;\n', ' 42', prompt);
    await shell.type('\\q\n');
    assert.deepEqual(await shell.exit, [0, null]);
  });

  it('fits a terminal of 20 columns and shows long answers through a pager', async () => {
    await using shell = await startShell(folder, { columns: 20, environment: 'PAGER="head -n 3"' });
    const from = shell.text().length;
    await shell.type('SELECT * FROM samples.flights;\n', 'Time: ', prompt);
    const lines = shell.text().slice(from).split('\r\n');
    const table = lines.slice(lines.findIndex((line) => line.startsWith(' date')));
    assert.ok(table.indexOf('Time: ') < 5);
    for (const line of table.slice(0, 3)) assert.ok(line.length <= 20, line);
    await shell.type('\\x\n', 'is on', prompt);
    await shell.type("SELECT 1 AS a, 'b' AS c;\n", 'c │ b', prompt);
    await shell.type('\\q\n');
    assert.deepEqual(await shell.exit, [0, null]);
  });
});

interface Shell extends AsyncDisposable {
  readonly exit: Promise<readonly unknown[]>;
  /** All that it has written. */
  text(): string;
  /** Types, and waits until the shell has written these texts after that. Without a prompt it does not read yet. */
  type(keys: string, ...awaited: readonly string[]): Promise<void>;
}

interface ShellOptions {
  readonly columns?: number;
  readonly environment?: string;
}

async function startShell(
  folder: string,
  { columns = 100, environment = 'PAGER=cat' }: ShellOptions = {},
): Promise<Shell> {
  const command = `stty cols ${columns} rows 24; SVC_HISTORY=${folder}/history ${environment} exec '${process.execPath}' '${svcProgram}' sql`;
  const child: ChildProcess = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: folder,
    stdio: 'pipe',
    env: { ...readProcessEnvironment().variables, SHELL: '/bin/sh', TERM: 'xterm' },
  });
  const exit = once(child, 'close');
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await until(() => text.includes(prompt) || child.exitCode !== null);
  return {
    exit,
    text: () => text,
    async type(keys, ...awaited) {
      let from = text.length;
      child.stdin?.write(keys);
      for (const each of awaited) {
        await until(() => text.includes(each, from) || child.exitCode !== null);
        assert.ok(text.includes(each, from), text);
        from = text.indexOf(each, from) + each.length;
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

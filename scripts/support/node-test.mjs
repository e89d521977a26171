// Runs compiled test files with Node's own runner and reads its summary.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './run-command.mjs';

const shownLines = 300;
const shownCharacters = 500;

/**
 * Progress goes to the terminal as dots unless `echo` is false, the full report to `.cache/tests/<name>.log`. Prints the
 * failures (bounded) and the runner's own summary. Answers `{ passed, failed }`; a run without a summary is a failure.
 */
export async function runNodeTests(run) {
  const { name, root, files, concurrency, timeoutMs, testTimeoutMs, env, echo = true } = run;
  if (files.length === 0) throw new Error(`There are no files of "${name}" to test.`);
  const folder = path.join(root, '.cache', 'tests');
  mkdirSync(folder, { recursive: true });
  const report = path.join(folder, `${name}.log`);
  const args = [
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${testTimeoutMs}`,
    '--test-reporter=dot',
    '--test-reporter-destination=stdout',
    '--test-reporter=spec',
    `--test-reporter-destination=${report}`,
    ...files,
  ];
  // Tests have servers of their own, which they end when they are told to.
  const options = { cwd: root, env, timeoutMs, echo, endSignal: 'SIGTERM' };
  const result = await runCommand(process.execPath, args, options);
  const lines = stripColours(readFileSync(report, 'utf8')).trimEnd().split('\n');
  const failures = lines.findIndex((line) => /^✖ failing tests:/.test(line));
  if (failures !== -1) print(lines.slice(failures), report);
  console.log(`\n${lines.filter((line) => line.startsWith('ℹ ')).join('\n')}`);
  if (result.timedOut) console.log(`The run was ended after ${timeoutMs / 1000} s.`);
  return count(lines, result.code);
}

function print(lines, report) {
  console.log(
    `\n${lines
      .slice(0, shownLines)
      .map((line) => line.slice(0, shownCharacters))
      .join('\n')}`,
  );
  if (lines.length > shownLines) console.log(`… ${lines.length - shownLines} further lines: ${report}`);
}

function count(lines, code) {
  const total = (word) => {
    const line = lines.findLast((text) => text.startsWith(`ℹ ${word} `));
    return line === undefined ? 0 : Number(line.split(' ')[2]);
  };
  const passed = total('pass');
  const failed = total('fail') + total('cancelled');
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

function stripColours(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  return text.replaceAll(/\u001b\[[0-9;]*m/g, '');
}

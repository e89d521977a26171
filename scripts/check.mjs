// `npm run check`: everything about the tree that a machine can judge without running the service.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './support/run-command.mjs';
import { endSuite } from './support/suite-summary.mjs';
import { treeProblems } from './support/tree-rules.mjs';

const root = path.resolve(import.meta.dirname, '..');
const stepTimeoutMs = 120_000;

const steps = [
  { name: 'format, lint, boundaries, cycles', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'types', command: ['tsc', '-b'] },
  {
    name: 'unused files, exports, dependencies',
    command: ['knip', '--no-progress', '--no-config-hints'],
  },
  { name: 'generated documents', script: ['scripts/generate-docs.mjs', '--check'] },
  { name: 'tree rules', problems: () => treeProblems(root) },
];

let failed = 0;
for (const step of steps) {
  const { ok, seconds, output } = await run(step);
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(6)} s  ${step.name}`);
  if (!ok) {
    failed += 1;
    console.log(`\n${output.trimEnd()}\n`);
  }
}
endSuite('check', steps.length - failed, failed);

async function run(step) {
  if (step.problems !== undefined) {
    const began = performance.now();
    const problems = await step.problems();
    return {
      ok: problems.length === 0,
      seconds: (performance.now() - began) / 1000,
      output: problems.join('\n'),
    };
  }
  const [command, ...args] = step.command ?? step.script;
  const program =
    step.script === undefined ? path.join(root, 'node_modules', '.bin', command) : path.join(root, command);
  if (!existsSync(program)) return { ok: false, seconds: 0, output: `${program} is missing.` };
  const line = step.script === undefined ? [program, args] : [process.execPath, [program, ...args]];
  const result = await runCommand(...line, { cwd: root, timeoutMs: stepTimeoutMs });
  return { ok: result.code === 0, seconds: result.seconds, output: result.output };
}

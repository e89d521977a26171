// `npm run soak [-- --short] [word…]`: long mixed runs with cancels, crashes and sleepers. CI runs the short, seeded form.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findFiles } from './support/find-files.mjs';
import { runNodeTests } from './support/node-test.mjs';
import { endSuite } from './support/suite-summary.mjs';

const root = path.resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' } },
});
const seed = values.seed ?? (values.short ? '1' : String(Date.now() % 1_000_000));
const isSoak = (file) =>
  /\.(soak|test)\.js$/.test(file) &&
  (positionals.length === 0 || positionals.some((word) => file.includes(word)));

const files = findFiles(root, path.join('test', 'dist', 'soak'), isSoak);
console.log(`${values.short ? 'Short' : 'Long'} soak of ${files.length} files, seed ${seed}`);
if (files.length === 0) {
  endSuite('soak', 0, 0);
} else {
  const { passed, failed } = await runNodeTests({
    name: 'soak',
    root,
    files,
    concurrency: 1,
    timeoutMs: values.short ? 10 * 60_000 : 6 * 3_600_000,
    testTimeoutMs: values.short ? 5 * 60_000 : 3 * 3_600_000,
    // What the tests read: how long to go on, and what to repeat a run by.
    env: { ...process.env, SOAK: values.short ? 'short' : 'long', SOAK_SEED: seed },
  });
  endSuite('soak', passed, failed);
}

// `npm test`: the unit and end-to-end tests that need nothing but `npm ci`. Real clients: `npm run test:peers`; what takes long:
// `npm run soak`.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findFiles } from './support/find-files.mjs';
import { runNodeTests } from './support/node-test.mjs';
import { endSuite } from './support/suite-summary.mjs';

const root = path.resolve(import.meta.dirname, '..');
const wanted = process.argv.slice(2);
const apart = ['peers', 'soak', path.join('policy', 'long')].map((name) => path.join('test', 'dist', name));

const isTest = (file) =>
  file.endsWith('.test.js') &&
  file.split(path.sep).includes('dist') &&
  !apart.some((folder) => file.startsWith(folder + path.sep)) &&
  (wanted.length === 0 || wanted.some((part) => file.includes(part)));

const files = [
  ...readdirSync(path.join(root, 'packages')).map((name) => path.join('packages', name)),
  'test',
].flatMap((folder) => findFiles(root, path.join(folder, 'dist'), isTest));
if (files.length === 0) {
  console.log('No compiled test matches.');
  endSuite('tests', 0, 0);
} else {
  const { passed, failed } = await runNodeTests({
    name: 'unit',
    root,
    files,
    concurrency: 2,
    timeoutMs: 25 * 60_000,
    testTimeoutMs: 5 * 60_000,
  });
  endSuite('tests', passed, failed);
}

/**
 * Writes docs/configuration.md and docs/errors.md from the registries of @svc/base, and into docs/performance.md the model of
 * Lambda (build first).
 * `--check` writes nothing and fails when a page differs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { configurationPage, errorsPage } from '@svc/base';
import { lambdaTables } from '../bench/model/lambda.mjs';

const folder = new URL('../docs/', import.meta.url);
const pages = {
  'configuration.md': configurationPage(),
  'errors.md': errorsPage(),
  'performance.md': await pageWithModel('performance.md'),
};
const isCheck = process.argv.includes('--check');

await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(pages)) {
  const file = new URL(name, folder);
  if (!isCheck) {
    await writeFile(file, text);
    continue;
  }
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current !== text) {
    console.error(`docs/${name} is not what the code says: run \`node scripts/generate-docs.mjs\`.`);
    process.exitCode = 1;
  }
}

/** The rest of the page is written by hand. */
async function pageWithModel(name) {
  const page = await readFile(new URL(name, folder), 'utf8');
  return page.replace(/(?<=<!-- model -->\n).*(?=<!-- \/model -->)/s, () => `\n${lambdaTables()}\n\n`);
}

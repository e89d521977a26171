/**
 * Writes docs/configuration.md and docs/errors.md from the registries of @svc/base (build it first).
 * `--check` writes nothing and fails when a page differs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { configurationPage, errorsPage } from '@svc/base';

const folder = new URL('../docs/', import.meta.url);
const pages = { 'configuration.md': configurationPage(), 'errors.md': errorsPage() };
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

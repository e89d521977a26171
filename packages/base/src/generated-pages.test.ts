import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { configurationPage } from './config/configuration-page.js';
import { settingsByKey } from './config/registry.js';
import { errorCodes } from './errors/codes.js';
import { errorsPage } from './errors/errors-page.js';

describe('generated pages', () => {
  for (const [name, text] of [
    ['configuration.md', configurationPage()],
    ['errors.md', errorsPage()],
  ] as const) {
    it(`docs/${name} is what the code says (else: node scripts/generate-docs.mjs)`, async () => {
      const file = new URL(`../../../docs/${name}`, import.meta.url);
      assert.equal(await readFile(file, 'utf8'), text);
    });
  }

  it('have one row for every key and every code', () => {
    assert.equal(rows(configurationPage()).length, settingsByKey.size);
    assert.equal(rows(errorsPage()).length, Object.keys(errorCodes).length);
  });

  it('describe each key and each code in a sentence', () => {
    const descriptions = [...settingsByKey.values(), ...Object.values(errorCodes)].map(
      (it) => it.description,
    );
    for (const description of descriptions) assert.match(description, /^[A-Z`].*\.$/);
  });
});

function rows(page: string): readonly string[] {
  return page.split('\n').filter((line) => line.startsWith('| `'));
}

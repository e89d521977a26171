/** Delta tables by delta-rs and by hand, read equal to what another reader answered for them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createFileStore } from '@svc/lake';
import { readDelta } from './delta-rows.js';
import { distantStore, withEngine } from './engine-scope.js';

const folder = fileURLToPath(new URL('../../../packages/lake/testdata/delta', import.meta.url));
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

function expectedRows(name: string): readonly string[] {
  return readFileSync(join(folder, name, 'expected.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .sort();
}

test('golden tables have the rows that another reader found in them, read in place and staged', () =>
  withEngine(async (scope) => {
    for (const name of names)
      for (const store of [createFileStore(), distantStore()]) {
        const { rows } = await readDelta(scope, store, join(folder, name));
        assert.deepEqual([...rows].sort(), expectedRows(name), name);
      }
  }));

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createLogger, loadConfig, parseLogFilter } from '@svc/base';
import { registerSamples } from './flights.js';

it('lets the service start without the sample table when what lies in its place is damaged', async () => {
  const root = await mkdtemp(join(tmpdir(), 'svc-samples-'));
  const lines: string[] = [];
  try {
    const metadata = join(root, 'samples', 'flights', 'metadata');
    await mkdir(metadata, { recursive: true });
    await writeFile(join(metadata, 'v1.metadata.json'), '{"format-version": 2');
    await writeFile(join(metadata, 'version-hint.text'), '1');
    const isThere = await registerSamples({
      config: loadConfig({ environment: { SVC_CATALOG__PATH: root } }),
      logger: createLogger('svc', { write: (line) => lines.push(line), filter: parseLogFilter('info') }),
      signal: new AbortController().signal,
      progress: () => undefined,
    });
    assert.equal(isThere, false);
    assert.match(lines.join(''), /"error_code":"DATA_CORRUPT".*v1\.metadata\.json/);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

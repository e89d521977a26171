/**
 * Tables of all shapes, by writers that the service does not know, through a REST catalog on MinIO: the service answers
 * the rows that each writer knows it wrote, and so does DuckDB's extension where it can. Run by
 * `npm run test:peers -- shapes`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { FlightClient } from '@svc/flight';
import { rows } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';

const run = promisify(execFile);
const { SVC_TEST_SHAPES = '{}' } = process.env;
const peers: {
  readonly url: string;
  readonly storage: { readonly endpoint: string };
  readonly python: string;
  readonly peersFolder: string;
  readonly classPath: string;
} = JSON.parse(SVC_TEST_SHAPES);

interface WrittenTable {
  readonly table: string;
  /** Makes one text of a row. */
  readonly sql: string;
  /** Sorted. */
  readonly rows: readonly string[];
  /** Format 3: id, row id and last updated sequence number of each row, sorted. */
  readonly rowIds: readonly string[];
}

/** How many tables each writer makes. */
const tableCounts = { java: 17 } as const;

describe('tables of all shapes', () => {
  let service: TestService;
  let client: FlightClient;
  let java: readonly WrittenTable[];
  before(async () => {
    [service, java] = await Promise.all([
      startService({ config: { 'catalog.catalog_url': peers.url } }),
      written('java', ['-Xmx384m', '-XX:+UseSerialGC', '-cp', peers.classPath, 'WriteShapes']),
    ]);
    client = await service.client();
  });
  after(() => service[Symbol.asyncDispose]());

  const texts = async (sql: string): Promise<readonly string[]> =>
    (await rows(client, sql)).map(([text]) => String(text)).sort();

  it('by Iceberg Java have the rows that it wrote and did not delete', async () => {
    assert.equal(java.length, tableCounts.java);
    for (const { table, sql, rows: expected } of java)
      assert.deepEqual(await texts(`SELECT ${sql} FROM ${table}`), expected, table);
  });
});

/** The tables that a program says it has written, one in a line. */
async function written(command: string, args: readonly string[]): Promise<readonly WrittenTable[]> {
  const kept = process.env['SVC_TEST_SHAPES_FILE'];
  const { stdout } = kept !== undefined ? { stdout: (await import('node:fs')).readFileSync(kept, 'utf8') } : await run(command, [...args, peers.url, peers.storage.endpoint], {
    env: { ...process.env, AWS_REGION: 'us-east-1' },
    maxBuffer: 1 << 26,
  });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): WrittenTable => JSON.parse(line));
}

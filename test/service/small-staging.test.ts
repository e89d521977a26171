/** Tables larger than the space for staged files: read in parts, with the same answers, or refused by name. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { FlightClient } from '@svc/flight';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

const spaceBytes = 2 * 2 ** 20;
/** 49 row groups, 13 MB that do not compress. */
const wide = `SELECT i::BIGINT AS id, DATE '2024-01-01' + (i % 90)::INTEGER AS day,
    sha256(i::VARCHAR) || sha256((-i)::VARCHAR) || sha256((i * 7)::VARCHAR) AS note
  FROM range(100000) r(i)`;
const tables = { 'sales.wide': wide };

let service: TestService;
let client: FlightClient;
before(async () => {
  const config = { 'cache.disk_bytes': spaceBytes, 'query.memory_limit': '256MiB' };
  service = await startService({ tables, config });
  client = await service.client();
});
after(() => service[Symbol.asyncDispose]());

describe('a table larger than the staging space', () => {
  it('is answered from its parts, each row once', async () => {
    // The first row group is pruned, so that the file cannot be linked as it is.
    const [row] = await rows(
      client,
      `SELECT count(*) AS n, count(DISTINCT note) AS notes, sum(id)::BIGINT AS ids, min(day) = DATE '2024-01-01' AS is_first
       FROM sales.wide WHERE id >= 2048`,
    );
    const sum = (100_000n * 99_999n - 2048n * 2047n) / 2n;
    assert.deepEqual(row, [97_952n, 97_952n, sum, true]);
    assert.ok((await cacheBytes()) <= spaceBytes);
  });

  it('is joined with itself, and filters of each part are kept', async () => {
    const joined = `SELECT count(*) FROM sales.wide a JOIN sales.wide b ON a.note = b.note
      WHERE a.id >= 4096 AND b.id < 90000 AND b.note IS NOT NULL`;
    assert.equal(await value(client, joined), 85_904n);
  });

  it('is answered whole, as it stands', async () => {
    const answered = await rows(client, 'SELECT id, note FROM sales.wide WHERE id >= 50000 ORDER BY id');
    assert.equal(answered.length, 50_000);
    assert.equal(answered.at(-1)?.[0], 99_999n);
  });

  it('is refused when a row group alone has no room, which names the file and both sizes', async () => {
    await using tiny = await startService({ tables, config: { 'cache.disk_bytes': 300_000 } });
    const refused = rows(await tiny.client(), 'SELECT max(note) FROM sales.wide WHERE id >= 2048');
    await assert.rejects(refused, (error) => {
      assert.equal(QueryError.from(error).code, 'DISK_FULL');
      assert.match(String(error), /Row group \d+ of .*wide.*\.parquet needs \d+ bytes .*cache\.disk_bytes/);
      return true;
    });
    assert.equal(await value(await tiny.client(), 'SELECT max(id) FROM sales.wide WHERE id < 4000'), 3999n);
  });
});

async function cacheBytes(): Promise<number> {
  const folder = join(service.folder, 'data', 'cache');
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

// `node engine-ingest.mjs FILE`: appends an Arrow IPC stream to a table of an engine in this process; prints the seconds.
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInProcessPool } from '@svc/engine';
import { RecordBatchReader } from 'apache-arrow';

const [file] = process.argv.slice(2);
const GiB = 2 ** 30;
const headBytes = 64 * 1024;

const folder = mkdtempSync(path.join(tmpdir(), 'svc-ingest-'));
const pool = createInProcessPool({
  folder,
  limits: { memoryBytes: 8 * GiB, threads: 2, tempDirectoryBytes: 8 * GiB },
});
try {
  const lease = await pool.lease({ owner: 'bench', lane: 'query' });
  const columns = (await schemaOf(file)).fields.map(
    (field, index) => `c${index} ${sqlType(String(field.type))}`,
  );
  await lease.execute([`CREATE TABLE t (${columns.join(', ')})`]);
  const began = performance.now();
  await lease.ingest({ table: 't' }, createReadStream(file, { highWaterMark: 4 * 2 ** 20 }));
  console.log(((performance.now() - began) / 1000).toFixed(3));
  await lease.release();
} finally {
  await pool.destroy();
  rmSync(folder, { recursive: true, force: true });
}

async function schemaOf(stream) {
  const handle = await open(stream);
  try {
    const { buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return RecordBatchReader.from(buffer).open().schema;
  } finally {
    await handle.close();
  }
}

/** The types of lineitem. */
function sqlType(arrow) {
  const decimal = /^Decimal\[(\d+)e[+-]?(\d+)\]$/.exec(arrow);
  if (decimal !== null) return `DECIMAL(${decimal[1]},${decimal[2]})`;
  const found = { Int32: 'INTEGER', Int64: 'BIGINT', Utf8: 'VARCHAR', 'Date32<DAY>': 'DATE' }[arrow];
  if (found === undefined) throw new Error(`lineitem has no column of type ${arrow}.`);
  return found;
}

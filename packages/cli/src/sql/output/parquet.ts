/**
 * Parquet, written by an engine: its COPY keeps every type exact and chooses encodings, and it spills what does not fit
 * its memory. The footer is written last, so the file is complete before its first byte is passed on.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import type { Answer } from '../answer/answer.js';
import { answerStream, endOfStream, readSchema } from '../answer/read-batches.js';
import { quoted } from '../shell/names.js';
import { columnType } from './column-type.js';
import { distinctNames } from './distinct-names.js';
import type { FormatOptions, Pieces } from './format.js';

const table = 'answer';
const memoryBytes = 1024 * 2 ** 20;
/** As much as the disk has: the limit of a result is that of the query. */
const tempDirectoryBytes = 2 ** 50;

export async function* parquetFormat(answer: Answer, { signal }: FormatOptions): Pieces {
  const { fields } = readSchema(answer.schema);
  // The engine's names differ by more than their case.
  const names = distinctNames(
    fields.map((field) => field.name),
    (name) => name.toLowerCase(),
  );
  const columns = fields.map((field, index) => `${quoted(names[index] ?? '')} ${columnType(field)}`);
  const folder = await mkdtemp(join(tmpdir(), 'svc-parquet-'));
  let pool: EnginePool | undefined;
  try {
    pool = await onePool(folder);
    const lease = await pool.lease({ owner: table, lane: 'query', ...(signal && { signal }) });
    const path = join(lease.inputDirectory, `${table}.parquet`);
    await lease.execute([`CREATE TABLE ${table} (${columns.join(', ')})`], signal);
    const rowCount = await lease.ingest({ table }, completeStream(answer), signal);
    await lease.execute([`COPY ${table} TO ${textLiteral(path)} (FORMAT parquet, COMPRESSION zstd)`], signal);
    yield* createReadStream(path);
    return Number(rowCount);
  } finally {
    await pool?.destroy();
    await rm(folder, { recursive: true, force: true });
  }
}

async function* completeStream(answer: Answer): AsyncGenerator<Uint8Array, void, undefined> {
  yield* answerStream(answer);
  yield endOfStream;
}

async function onePool(folder: string): Promise<EnginePool> {
  // Other formats, and sessions with a server, have no use for engines.
  const { createHostPool } = await import('@svc/engine');
  const lane = {
    hosts: 1,
    spareHosts: 0,
    limits: { memoryBytes, threads: availableParallelism(), tempDirectoryBytes },
  };
  return createHostPool({ folder, query: lane, small: lane, log: silentLogger });
}

function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

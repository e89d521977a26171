/**
 * One world in an engine alone: the tables as Parquet files, and the views that design section 7 speaks of, with and without
 * a barrier. Nothing of the service takes part, so what is found here is the engine's own way with views.
 */
import { createHash } from 'node:crypto';
import { QueryError } from '@svc/base';
import { collectRows, type EngineLease, type EnginePool } from '@svc/engine';
import { mappingRows, peopleOf, type World } from '../support/people.js';
import type { RowFilter } from '../support/policies.js';

export interface EngineWorld {
  /** The view `people` hides by this filter from now on; with a barrier, nothing of a statement is to pass it. */
  protect(filter: RowFilter, hasBarrier: boolean): Promise<void>;
  /** A digest of the rows, or the error in words. */
  answer(sql: string): Promise<string>;
  close(): Promise<void>;
}

const rowGroupRows = 2048;

/** Casts of a struct's fields pass a barrier together with the field. */
const wholeStructs = ' REPLACE (CASE WHEN people.home IS NULL THEN NULL ELSE people.home END AS home)';

export async function openEngineWorld(pool: EnginePool, world: World): Promise<EngineWorld> {
  const lease = await pool.lease({ owner: world, lane: 'query' });
  const file = (name: string) => `${lease.inputDirectory}/${name}.parquet`;
  const write = (name: string, sql: string) =>
    `COPY (${sql}) TO '${file(name)}' (FORMAT parquet, ROW_GROUP_SIZE ${rowGroupRows})`;
  await lease.execute([
    write('people', peopleOf(world)),
    write('mapping', mappingRows),
    `CREATE VIEW mapping AS SELECT * FROM read_parquet('${file('mapping')}')`,
  ]);
  return {
    protect: ({ expression }, hasBarrier) =>
      lease.execute([
        `CREATE OR REPLACE VIEW people AS SELECT *${hasBarrier ? wholeStructs : ''} FROM read_parquet('${file('people')}') AS people
          WHERE ${expression('mapping')}${hasBarrier ? ' OFFSET 0' : ''}`,
      ]),
    answer: (sql) => answerOf(lease, sql),
    close: () => lease.release(),
  };
}

async function answerOf(lease: EngineLease, sql: string): Promise<string> {
  const digest = createHash('sha256');
  let rows = 0;
  try {
    // As text, so that what is compared does not hang on how the rows were cut into batches.
    const text = `SELECT columns(*)::VARCHAR FROM (${sql})`;
    for (const row of await collectRows(await lease.query({ sql: text, arrow: 'lossless' }), 2 ** 26)) {
      digest.update(JSON.stringify([...row.values()]));
      rows += 1;
    }
    return `${rows} rows ${digest.digest('hex')}`;
  } catch (error) {
    const { code, message } = QueryError.from(error);
    return `${code}: ${message}`;
  }
}

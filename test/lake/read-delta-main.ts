/**
 * Reads Delta tables for the peer tests. Each line of the input names one: `{location, version?, column?, low?, high?}`;
 * each line of the output has its rows as JSON, sorted, of the range of the column if one is given.
 */
import { createInterface } from 'node:readline';
import { QueryError } from '@svc/base';
import { createFileStore } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import { quoteIdentifier } from '@svc/sql';
import { type DeltaRows, readDelta } from './delta-rows.js';
import { type EngineScope, withEngine } from './engine-scope.js';

interface Request {
  readonly location: string;
  readonly version?: number;
  readonly column?: string;
  readonly low?: number;
  readonly high?: number;
}

await withEngine(async (scope) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await read(scope, JSON.parse(line) as Request).then(
      ({ rows, scan }) => ({ rows, filesPruned: scan.counts.filesPruned }),
      (error: unknown) => ({ error: QueryError.from(error).message }),
    );
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
});

function read(scope: EngineScope, request: Request): Promise<DeltaRows> {
  const { location, version, column, low = 0, high = 0 } = request;
  const pin = version === undefined ? {} : { version };
  if (column === undefined) return readDelta(scope, createFileStore(), location, pin);
  const bound = (operator: '<' | '>=', value: number): ScanFilter => ({
    kind: 'compare',
    column: [column],
    operator,
    literal: { type: 'BIGINT', value: BigInt(value) },
  });
  const name = quoteIdentifier(column);
  return readDelta(scope, createFileStore(), location, {
    ...pin,
    request: { columns: undefined, filters: [bound('>=', low), bound('<', high)] },
    sql: `SELECT to_json(whole_row)::VARCHAR AS v FROM t AS whole_row WHERE ${name} >= ${low} AND ${name} < ${high}`,
  });
}

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QueryError } from '@svc/base';
import { planTables } from './plan-tables.js';
import type { PlannerDependencies } from './planner-dependencies.js';
import type { ResolvedTable } from './resolve-tables.js';

const everything = [{ columns: undefined, filters: [] }];
const path = 's3://bucket/t/region=US/ssn=078-05-1120/f.orc';

it('what is wrong with a data file is told only where none of its rows are hidden', async () => {
  const planned = (isGuarded: boolean) => {
    const table = {
      ...{ catalog: 'lake', schema: 's', table: 't', isGuarded },
      source: {
        kind: 'delta',
        plan: () => Promise.reject(new QueryError('DATA_FILE_MISSING', `There is no ${path}.`)),
      },
    } as unknown as ResolvedTable;
    return planTables({} as PlannerDependencies, [table], everything, new AbortController().signal);
  };
  await assert.rejects(planned(false), { code: 'DATA_FILE_MISSING', message: `There is no ${path}.` });
  await assert.rejects(planned(true), ({ code, message, cause }: QueryError) => {
    assert.equal(code, 'DATA_FILE_MISSING');
    assert.doesNotMatch(message, /bucket|078/);
    assert.equal(cause, undefined);
    return true;
  });
});

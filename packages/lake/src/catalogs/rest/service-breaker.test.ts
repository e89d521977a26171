import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { catalogError } from './rest-errors.js';
import { AnsweredProblem, createServiceBreaker } from './service-breaker.js';

test('a catalog that is down is left alone, however many of those who ask give up; one that answers is not', async () => {
  const breaker = createServiceBreaker();
  const end = (error: QueryError) =>
    assert.rejects(
      breaker.run(() => Promise.reject(error)),
      error,
    );
  const silence = catalogError('was silent');
  const gaveUp = new QueryError('CANCELLED', 'No longer wanted.');
  const tooLate = new QueryError('QUERY_TIMEOUT', 'Too late.');
  for (const error of [silence, gaveUp, silence, tooLate, silence, silence]) await end(error);
  await end(catalogError('answers 500', { cause: new AnsweredProblem() }));
  for (const error of [silence, gaveUp, silence, tooLate, silence, silence]) await end(error);
  assert.equal(breaker.state, 'closed');
  await end(silence);
  assert.equal(breaker.state, 'open');
});

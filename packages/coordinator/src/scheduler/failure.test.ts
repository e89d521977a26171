import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, QueryError } from '@svc/base';
import { mayRunHere } from './failure.js';

const onOneNode = (codes: readonly ErrorCode[], isForced: boolean) =>
  codes.filter((code) => mayRunHere(new QueryError(code, ''), isForced));

describe('a statement that failed in fragments', () => {
  const computed: readonly ErrorCode[] = [
    'EVALUATION_ERROR',
    'OUT_OF_MEMORY',
    'NOT_SUPPORTED',
    'INTERNAL_ERROR',
  ];
  const lost: readonly ErrorCode[] = [
    'EXECUTOR_LOST',
    'NO_EXECUTOR',
    'FRAGMENT_REFUSED',
    'STORAGE_ERROR',
    'DISK_FULL',
  ];
  const own: readonly ErrorCode[] = [
    'DATA_CORRUPT',
    'DATA_FILE_MISSING',
    'QUERY_TIMEOUT',
    'PERMISSION_DENIED',
    'SLOW_CONSUMER',
  ];

  it('is decided on one node where its text or machine may be the reason', () => {
    for (const isForced of [true, false]) assert.deepEqual(onOneNode(computed, isForced), computed);
  });

  it('runs on one node for want of executors, unless they were asked for', () => {
    assert.deepEqual(onOneNode(lost, false), lost);
    assert.deepEqual(onOneNode(lost, true), []);
  });

  it('has failed where it would anywhere', () => {
    for (const isForced of [true, false]) assert.deepEqual(onOneNode(own, isForced), []);
  });
});

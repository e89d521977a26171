import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, QueryError } from '@svc/base';
import { failureKind, failureOn, mayRunHere } from './failure.js';

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
    'EXECUTOR_TIME_OVER',
    'QUEUE_TIMEOUT',
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

describe('what an executor says of itself', () => {
  const kindsOf = (codes: readonly ErrorCode[]) => codes.map((code) => failureKind({ code }));

  it('is no fault where it has no place, or its time is over', () => {
    assert.deepEqual(kindsOf(['QUEUE_FULL', 'QUEUE_TIMEOUT', 'SHUTTING_DOWN', 'EXECUTOR_TIME_OVER']), [
      ...['busy', 'busy', 'leaving', 'over'],
    ]);
  });

  it('counts as a fault where it cannot be so', () => {
    assert.equal(failureOn('workers', { code: 'EXECUTOR_TIME_OVER' }), 'executor');
    assert.equal(failureOn('lambda', { code: 'SHUTTING_DOWN' }), 'executor');
    assert.equal(failureOn('lambda', { code: 'QUEUE_FULL' }), 'again');
    assert.equal(failureOn('lambda', { code: 'EXECUTOR_TIME_OVER' }), 'over');
    assert.equal(failureOn('workers', { code: 'QUEUE_FULL' }), 'busy');
  });
});

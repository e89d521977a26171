import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { sqlInfoValues } from '../sql/sql-info.js';
import { createFakeBackend } from '../test-support/fake-backend.js';
import { joinIpcStream, schemaMessage } from './ipc-message.js';
import { encodeSqlInfo, sqlInfoSchema } from './sql-info-table.js';
import { encodeSchema } from './table-message.js';

const values = sqlInfoValues(createFakeBackend().sqlInfo());

function decode(ids: readonly number[]): Map<number, unknown> {
  const stream = joinIpcStream([schemaMessage(encodeSchema(sqlInfoSchema)), ...encodeSqlInfo(values, ids)]);
  return new Map(
    tableFromIPC(stream)
      .toArray()
      .map(({ info_name: id, value }) => [Number(id), value]),
  );
}

test('every id of the format is answered', () => {
  const expected = [
    ...Array.from({ length: 12 }, (_, id) => id),
    100,
    101,
    ...Array.from({ length: 77 }, (_, index) => 500 + index),
  ];
  assert.deepEqual([...decode([]).keys()], expected);
});

test('each kind of value arrives through its child of the union', () => {
  const info = decode([0, 4, 6, 8, 508, 511, 541, 562]);
  assert.equal(info.get(0), 'svc');
  assert.equal(info.get(4), true);
  assert.equal(info.get(6), null);
  assert.equal(info.get(8), 0);
  assert.deepEqual([...(info.get(508) as Iterable<string>)], ['QUALIFY']);
  assert.deepEqual([...(info.get(511) as Iterable<string>)], []);
  assert.equal(info.get(541), 0n);
  assert.equal(info.get(562), 0n);
});

test('conversions are a map of lists', () => {
  const map = decode([517]).get(517) as Iterable<readonly [number, Iterable<number>]>;
  const conversions = new Map([...map].map(([from, to]) => [from, [...to]]));
  assert.deepEqual(conversions.get(4), [3, 4, 11, 16, 19]);
  assert.equal(conversions.size, 20);
});

test('only what was asked for is answered, once, and unknown ids are left out', () => {
  assert.deepEqual([...decode([8, 8, 99_999, 0]).keys()], [8, 0]);
});

test('what writes and cancels is answered as present', () => {
  const info = decode([3, 9, 10, 501, 502, 524, 572]);
  assert.deepEqual([...info.values()], [false, true, true, true, true, true, true]);
});

test('ordinals are 64 bits wide, as the ODBC driver reads them, and masks 32', () => {
  assert.deepEqual([...decode([503, 505, 507, 562, 522, 564]).values()], [1n, 1n, 3n, 0n, 3, 1]);
});

test('what is not built is answered as absent', () => {
  const info = decode([5, 8, 11, 500, 563, 573]);
  for (const [id, value] of info) assert.ok(value === false || value === 0, `${id}`);
});

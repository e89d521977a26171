import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOtherColumns } from './column-names.js';

const ssn = { id: 5, name: 'ssn' };

test('a name means another column only where one had it', () => {
  const key = { id: 1, name: 'id' };
  const cases: readonly (readonly [then: Parameters<typeof meanOtherColumns>[1], isOther: boolean])[] = [
    [[key, ssn], false],
    [[key, { id: 5, name: 'SSN' }], false],
    [[key, { id: 5, name: 'tax' }], false],
    [[key, { id: 3, name: 'ssn' }], false],
    [[key, { id: 5, name: 'tax' }, { id: 3, name: 'Ssn' }], true],
  ];
  for (const [then, isOther] of cases)
    assert.equal(meanOtherColumns([key, ssn], then), isOther, JSON.stringify(then));
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Fifo } from './fifo.js';

it('items come in the order in which they went in, whatever is taken between', () => {
  const fifo = new Fifo<number>();
  const taken: (number | undefined)[] = [];
  for (let item = 0; item < 100; item += 1) {
    fifo.push(item);
    if (item % 3 === 2) taken.push(fifo.shift());
  }
  assert.equal(fifo.length, 67);
  while (fifo.length > 0) taken.push(fifo.shift());
  assert.deepEqual(
    taken,
    Array.from({ length: 100 }, (_, item) => item),
  );
  assert.equal(fifo.shift(), undefined);
  fifo.push(7);
  assert.equal(fifo.shift(), 7);
});

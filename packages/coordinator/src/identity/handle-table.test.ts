import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeClock } from '../test-support/clock.js';
import { HandleTable, preparedStatementErrors, ticketErrors } from './handle-table.js';

const ttlMs = 1000;

describe('a handle in the table', () => {
  it('answers its value to its session as often as it is asked', () => {
    const { table } = newTable();
    const handle = table.add('a', 'value');
    assert.equal(table.get('a', handle), 'value');
    assert.equal(table.get('a', handle), 'value');
  });

  it('lives on as long as it is used, and expires after its last use', () => {
    const { table, clock } = newTable();
    const handle = table.add('a', 'value');
    for (let use = 0; use < 3; use += 1) {
      clock.advance(ttlMs);
      table.get('a', handle);
    }
    clock.advance(ttlMs + 1);
    assert.throws(() => table.get('a', handle), { code: 'TICKET_EXPIRED' });
  });

  it('is expired, not invalid, once it was deleted or its session ended', () => {
    const { table } = newTable();
    const deleted = table.add('a', '1');
    table.delete('a', deleted);
    assert.throws(() => table.get('a', deleted), { code: 'TICKET_EXPIRED' });
    const ended = table.add('a', '2');
    table.endSession('a');
    assert.throws(() => table.get('a', ended), { code: 'TICKET_EXPIRED' });
  });

  it('can be deleted twice, but not by a foreign session or by guessing', () => {
    const { table } = newTable();
    const handle = table.add('a', 'value');
    assert.throws(() => table.delete('b', handle), { code: 'TICKET_INVALID' });
    assert.throws(() => table.delete('a', new Uint8Array(49)), { code: 'TICKET_INVALID' });
    assert.equal(table.get('a', handle), 'value');
    table.delete('a', handle);
    table.delete('a', handle);
  });

  it('of another session is invalid', () => {
    const { table } = newTable();
    const handle = table.add('a', 'value');
    assert.throws(() => table.get('b', handle), { code: 'TICKET_INVALID' });
  });
});

describe('the handle of a prepared statement', () => {
  it('says to prepare again, whatever is wrong with it', () => {
    const { table } = newTable(preparedStatementErrors);
    const handle = table.add('a', 'value');
    table.delete('a', handle);
    for (const read of [() => table.get('a', handle), () => table.get('b', handle)])
      assert.throws(read, { code: 'PREPARED_STATEMENT_NOT_FOUND', message: /prepare it again/ });
  });
});

describe('the handle table', () => {
  it('keeps a bounded number for each session, the newest', () => {
    const { table } = newTable();
    const handles = ['1', '2', '3', '4', '5'].map((value) => table.add('a', value));
    const other = table.add('b', 'other');
    const [first = other, second = other, ...kept] = handles;
    for (const gone of [first, second]) assert.throws(() => table.get('a', gone), { code: 'TICKET_EXPIRED' });
    assert.deepEqual(
      kept.map((handle) => table.get('a', handle)),
      ['3', '4', '5'],
    );
    assert.equal(table.get('b', other), 'other');
  });

  it('gives up what was not used for longest', () => {
    const { table } = newTable();
    const [used, unused] = [table.add('a', '1'), table.add('a', '2')];
    table.get('a', used);
    for (const value of ['3', '4']) table.add('a', value);
    assert.equal(table.get('a', used), '1');
    assert.throws(() => table.get('a', unused), { code: 'TICKET_EXPIRED' });
  });

  it('keeps a bounded size, at the cost of the session that holds most', () => {
    const { table } = newTable();
    const small = table.add('a', 'x'.repeat(10));
    const [old, newer] = [table.add('b', 'x'.repeat(60)), table.add('b', 'x'.repeat(40))];
    assert.throws(() => table.get('b', old), { code: 'TICKET_EXPIRED' });
    for (const kept of [() => table.get('a', small), () => table.get('b', newer)]) assert.doesNotThrow(kept);
  });

  it('forgets the size of what has gone, and never gives up the newest handle of a session', () => {
    const { table, clock } = newTable();
    for (const value of ['1', '2']) table.delete('a', table.add('a', value.repeat(90)));
    table.add('b', 'x'.repeat(90));
    table.endSession('b');
    table.add('c', 'x'.repeat(90));
    clock.advance(ttlMs + 1);
    table.sweep();
    const kept = [table.add('a', 'x'.repeat(50)), table.add('a', 'x'.repeat(50))];
    const large = table.add('d', 'x'.repeat(1000));
    assert.throws(() => table.get('a', kept[0] ?? large), { code: 'TICKET_EXPIRED' });
    assert.equal(table.get('d', large).length, 1000);
  });

  it('lets a handle stand for another value, of another size', () => {
    const { table } = newTable();
    const first = table.add('a', 'x');
    const handle = table.add('a', 'y');
    table.replace('a', handle, 'z'.repeat(100));
    assert.equal(table.get('a', handle), 'z'.repeat(100));
    assert.throws(() => table.get('a', first), { code: 'TICKET_EXPIRED' });
    assert.throws(() => table.replace('a', first, 'w'), { code: 'TICKET_EXPIRED' });
  });

  it('sweeps out what has expired and keeps the rest', () => {
    const { table, clock } = newTable();
    const old = table.add('a', 'old');
    clock.advance(ttlMs);
    const fresh = table.add('a', 'fresh');
    clock.advance(1);
    table.sweep();
    assert.equal(table.get('a', fresh), 'fresh');
    clock.advance(-1);
    // Back in time it would still be alive: it is the sweep that has removed it.
    assert.throws(() => table.get('a', old), { code: 'TICKET_EXPIRED' });
  });
});

function newTable(errors = ticketErrors) {
  const clock = fakeClock();
  return {
    clock,
    table: new HandleTable<string>({
      ttlMs,
      maxPerSession: 3,
      maxBytes: 100,
      bytesOf: (value) => value.length,
      now: clock.now,
      errors,
    }),
  };
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Field, Int64, Schema, Table, tableFromArrays, tableToIPC } from 'apache-arrow';
import { parametersOf } from './prepared.js';

const none = new Schema([]);
const two = new Schema([new Field('1', new Int64()), new Field('2', new Int64())]);

describe('bound parameters', () => {
  it('are one row with as many values as the statement takes', () => {
    const stream = streamOf({ a: [1], b: ['x'] });
    assert.equal(parametersOf(stream, query(two)), stream);
  });

  it('are none when the batch is empty, as JDBC sends it', () => {
    assert.equal(parametersOf(streamOf({}), query(none)), undefined);
    assert.equal(parametersOf(schemaBytes(none), query(none)), undefined);
  });

  it('are refused when there are more or fewer of them', () => {
    assertRefused(streamOf({ a: [1] }), two, 'The statement has 2 parameters; 1 were bound.');
    assertRefused(streamOf({ a: [1] }), none, 'The statement has 0 parameters; 1 were bound.');
  });

  it('are refused when there is no row of them, or several', () => {
    assertRefused(schemaBytes(two), two, 'A query takes one row of parameters; 0 rows were bound.');
    assertRefused(
      streamOf({ a: [1, 2], b: [3, 4] }),
      two,
      'A query takes one row of parameters; 2 rows were bound.',
    );
  });

  it('of an update are one row or more', () => {
    const update = { ...query(two), isUpdate: true };
    const stream = streamOf({ a: [1, 2], b: [3, 4] });
    assert.equal(parametersOf(stream, update), stream);
    assert.throws(() => parametersOf(schemaBytes(two), update), {
      code: 'INVALID_PARAMETER',
      message: 'An update takes one row of parameters or more; 0 rows were bound.',
    });
  });

  it('are refused when they are not Arrow, or damaged', () => {
    const good = streamOf({ a: [1], b: [2] });
    for (const bytes of [Buffer.from('SELECT 1'), good.subarray(0, -20), good.subarray(8)]) {
      assertRefused(bytes, two, 'The bound parameters are not a readable Arrow stream.');
    }
    assertRefused(new Uint8Array(64).fill(255), two, 'The statement has 2 parameters; 0 were bound.');
  });
});

function streamOf(columns: Readonly<Record<string, readonly unknown[]>>): Uint8Array {
  return tableToIPC(tableFromArrays(columns), 'stream');
}

function schemaBytes(schema: Schema): Uint8Array {
  return tableToIPC(new Table(schema), 'stream');
}

function query(schema: Schema) {
  return { parameterSchema: schemaBytes(schema), isUpdate: false };
}

function assertRefused(stream: Uint8Array, schema: Schema, message: string): void {
  assert.throws(() => parametersOf(stream, query(schema)), { code: 'INVALID_PARAMETER', message });
}

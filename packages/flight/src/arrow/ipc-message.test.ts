import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Int64, tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { encapsulateHeader, joinIpcStream, schemaMessage, splitIpcStream } from './ipc-message.js';
import { encodeSchema, schemaOf } from './table-message.js';

const stream = tableToIPC(tableFromArrays({ id: BigInt64Array.of(1n, 2n), name: ['one', 'two'] }), 'stream');

test('a stream splits into schema, dictionaries and batches, and joins to an equal table', () => {
  const messages = splitIpcStream(stream);
  assert.equal(messages[0]?.body.length, 0);
  assert.deepEqual(tableFromIPC(joinIpcStream(messages)).toArray(), tableFromIPC(stream).toArray());
});

test('a schema keeps its prefix in FlightInfo and loses it in FlightData', () => {
  const encapsulated = encodeSchema(schemaOf([{ name: 'id', type: new Int64(), nullable: false }]));
  assert.equal(encapsulated.readUInt32LE(0), 0xffffffff);
  assert.equal(encapsulated.length % 8, 0);
  assert.deepEqual(encapsulateHeader(schemaMessage(encapsulated).header), encapsulated);
});

test('bytes that are no stream are refused', () => {
  for (const bytes of [
    Buffer.from('garbage that is no stream'),
    Buffer.alloc(64),
    Buffer.from([255, 255, 255, 255]),
  ])
    assert.throws(() => splitIpcStream(bytes), { code: 'INVALID_ARGUMENT' });
});

test('a stream cut off anywhere is refused or ends at a whole message, and never throws anything else', () => {
  const whole = splitIpcStream(stream).length;
  for (let length = 1; length < stream.length; length++) {
    try {
      assert.ok(splitIpcStream(stream.subarray(0, length)).length <= whole);
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'INVALID_ARGUMENT');
    }
  }
});

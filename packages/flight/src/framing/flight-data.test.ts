import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FlightDataSchema } from '../gen/Flight_pb.js';
import {
  encodeFlightData,
  encodeFrames,
  flightDataLength,
  GRPC_PREFIX_BYTES,
  type IpcMessage,
  serializeWithOneCopy,
} from './flight-data.js';

const sizes: readonly (readonly [number, number])[] = [
  [0, 0],
  [8, 0],
  [127, 128],
  [128, 127],
  [16_383, 16_384],
  [16_384, 2_097_152],
];

function messageOf(headerLength: number, bodyLength: number): IpcMessage {
  return { header: Buffer.alloc(headerLength, 1), body: Buffer.alloc(bodyLength, 2) };
}

function copyOut(serialized: Buffer): Buffer {
  const out = Buffer.alloc(3 + serialized.byteLength);
  serialized.copy(out, 3);
  return out.subarray(3);
}

for (const [headerLength, bodyLength] of sizes) {
  test(`header of ${headerLength} and body of ${bodyLength} bytes read back by a protobuf decoder`, () => {
    const message = messageOf(headerLength, bodyLength);
    const whole = encodeFlightData(message);
    assert.equal(whole.length, flightDataLength(message));
    const decoded = fromBinary(FlightDataSchema, whole);
    assert.deepEqual(
      [Buffer.from(decoded.dataHeader), Buffer.from(decoded.dataBody)],
      [message.header, message.body],
    );
  });

  test(`every way of writing ${headerLength} + ${bodyLength} bytes gives the same message`, () => {
    const message = messageOf(headerLength, bodyLength);
    const whole = encodeFlightData(message);
    const framed = Buffer.concat(encodeFrames([message]));
    assert.equal(framed.readUInt8(0), 0);
    assert.equal(framed.readUInt32BE(1), whole.length);
    assert.deepEqual(framed.subarray(GRPC_PREFIX_BYTES), whole);
    assert.deepEqual(copyOut(serializeWithOneCopy(message)), whole);
  });
}

test('messages for one write follow each other; only a small body is copied', () => {
  const [small, large] = [messageOf(8, 100), messageOf(8, 1_000_000)];
  const frames = encodeFrames([small, large]);
  assert.equal(frames.length, 3);
  assert.equal(frames[2]?.buffer, large.body.buffer);
  assert.deepEqual(
    Buffer.concat(frames),
    Buffer.concat([...encodeFrames([small]), ...encodeFrames([large])]),
  );
});

test('a body in shared memory is read in place', () => {
  const body = new Uint8Array(new SharedArrayBuffer(64), 16, 32).fill(7);
  const whole = encodeFlightData({ header: Buffer.from('h'), body });
  assert.deepEqual(whole.subarray(-32), Buffer.alloc(32, 7));
});

test('a descriptor stands first', () => {
  const descriptor = Buffer.from([8, 2]);
  const decoded = fromBinary(FlightDataSchema, encodeFlightData(messageOf(8, 8), descriptor));
  assert.equal(decoded.flightDescriptor?.type, 2);
  assert.equal(decoded.dataBody.length, 8);
});

test('protobuf writes the same bytes', () => {
  const { header, body } = messageOf(300, 70_000);
  const expected = toBinary(
    FlightDataSchema,
    create(FlightDataSchema, { dataHeader: header, dataBody: body }),
  );
  assert.deepEqual(encodeFlightData({ header, body }), Buffer.from(expected));
});

import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ServerDuplexStream, ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { FlightDataSchema } from '../gen/Flight_pb.js';
import { encodeMessage } from '../messages/any.js';
import { openUpload } from './upload.js';

/** A call whose client has `count` messages to send, each as soon as it is asked for. */
function uploading(count: number) {
  const transport = { startRead: () => {} };
  const state = { asked: 0 };
  const call = new Duplex({
    objectMode: true,
    read: () => transport.startRead(),
    write: (_chunk, _encoding, done) => done(),
  });
  transport.startRead = () => {
    state.asked += 1;
    const number = state.asked;
    queueMicrotask(() =>
      call.push(
        number > count
          ? null
          : encodeMessage(FlightDataSchema, {
              dataHeader: Uint8Array.of(number),
              dataBody: new Uint8Array(9),
            }),
      ),
    );
  };
  const abort = new AbortController();
  const upload = openUpload(
    call as unknown as ServerDuplexStream<Buffer, Buffer>,
    transport as unknown as ServerInterceptingCallInterface,
    abort.signal,
  );
  return { upload, state, call, abort };
}

test('two messages at most are ahead of the reader, and every one arrives', async () => {
  const { upload, state } = uploading(100);
  using _upload = upload;
  await setImmediate();
  assert.equal(state.asked, 2);
  for (let number = 1; number <= 100; number++) {
    const message = await upload.read();
    assert.deepEqual(message?.dataHeader, Buffer.of(number));
    await setImmediate();
    assert.ok(state.asked <= number + 2, `${state.asked} were asked for, ${number} were read`);
  }
  assert.equal(await upload.read(), undefined);
});

test('a read ends with the reason of the call’s end', async () => {
  const { upload, abort, call } = uploading(100);
  using _upload = upload;
  await upload.read();
  await upload.read();
  call.pause();
  const reason = new QueryError('CANCELLED', 'gone');
  abort.abort(reason);
  await assert.rejects(upload.read(), reason);
});

test('after the upload was given up, the rest is taken and dropped', async () => {
  const { upload, state } = uploading(100);
  await upload.read();
  upload[Symbol.dispose]();
  for (let turns = 0; turns < 200 && state.asked <= 100; turns++) await setImmediate();
  assert.equal(state.asked, 101);
});

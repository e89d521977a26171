import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, FrameReader, maxFrameBytes } from './frame.js';

interface Head {
  readonly text: string;
}

function readAll(reader: FrameReader<Head>): [string, string][] {
  const frames: [string, string][] = [];
  for (let frame = reader.next(); frame; frame = reader.next())
    frames.push([frame.head.text, frame.body.toString()]);
  return frames;
}

test('reads frames back whatever the division of their bytes', () => {
  const sent: [string, string][] = [
    ['one', ''],
    ['zwö', 'body'],
    ['', 'x'.repeat(300_000)],
    ['last', ''],
  ];
  const bytes = Buffer.concat(sent.map(([text, body]) => encodeFrame({ text }, Buffer.from(body))));
  for (const step of [1, 7, 4096, 65_536, bytes.length]) {
    const reader = new FrameReader<Head>();
    const received: [string, string][] = [];
    for (let offset = 0; offset < bytes.length; offset += step) {
      reader.push(bytes.subarray(offset, offset + step));
      received.push(...readAll(reader));
    }
    assert.deepEqual(received, sent, `step ${step}`);
  }
});

test('refuses a length that no frame has', () => {
  const reader = new FrameReader<Head>();
  reader.push(Buffer.from('ffffffffffffffff', 'hex'));
  assert.throws(() => reader.next(), /out of step/);
});

test('refuses to send a frame that the reader would refuse', () => {
  assert.throws(() => encodeFrame({}, Buffer.alloc(maxFrameBytes)), { code: 'STATEMENT_TOO_LARGE' });
});

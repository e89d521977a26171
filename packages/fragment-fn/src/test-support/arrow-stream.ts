import type { SplitRun } from '../splits/split-task.js';

/** All rows of a run as one Arrow IPC stream. */
export async function arrowStream({ schema, events }: SplitRun): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [new Uint8Array(schema)];
  for await (const event of events) {
    if (event.kind !== 'message') continue;
    const { header, body, release } = event.message;
    pieces.push(encapsulated(header), new Uint8Array(body));
    release();
  }
  pieces.push(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0));
  return Buffer.concat(pieces);
}

function encapsulated(header: Uint8Array): Uint8Array {
  const length = (header.byteLength + 7) & ~7;
  const bytes = Buffer.alloc(8 + length);
  bytes.writeUInt32LE(0xffffffff, 0);
  bytes.writeInt32LE(length, 4);
  bytes.set(header, 8);
  return bytes;
}

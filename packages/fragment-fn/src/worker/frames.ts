/** What stands beside the messages of the call in which a worker runs a task: its `app_metadata`, both ways. */
import { QueryError, type SerializedError } from '@svc/base';
import type { StoreGrant } from '@svc/lake';
import { type Codec, required, uint, union } from '../wire/codec.js';
import { type EventHeader, eventHeader, serializedError } from '../wire/event-codec.js';
import { storeGrant } from '../wire/grant-codec.js';
import { WireError, WireReader } from '../wire/wire-reader.js';
import { WireWriter } from '../wire/wire-writer.js';

export type WorkerFrame =
  /** Arrow's schema of all splits: comes before their rows. */
  | { readonly kind: 'schema' }
  | { readonly kind: 'event'; readonly event: EventHeader }
  /** Nothing to say for a while, but the worker is there. */
  | { readonly kind: 'alive' }
  /** Asks for credentials of a table's store that are valid for longer. */
  | { readonly kind: 'renew'; readonly id: number; readonly table: number };

export type CoordinatorFrame =
  /** The body is the next part of the task. */
  | { readonly kind: 'piece' }
  | { readonly kind: 'grant'; readonly id: number; readonly grant: StoreGrant }
  | { readonly kind: 'no-grant'; readonly id: number; readonly error: SerializedError };

const workerFrame = union<WorkerFrame>({
  schema: [1, {}],
  event: [2, { event: required(1, eventHeader) }],
  alive: [3, {}],
  renew: [4, { id: required(1, uint), table: required(2, uint) }],
});

const coordinatorFrame = union<CoordinatorFrame>({
  piece: [1, {}],
  grant: [2, { id: required(1, uint), grant: required(2, storeGrant) }],
  'no-grant': [3, { id: required(1, uint), error: required(2, serializedError) }],
});

const maxFrameBytes = 512 * 1024;

export function encodeWorkerFrame(frame: WorkerFrame): Uint8Array {
  return encode(workerFrame, frame);
}

export function encodeCoordinatorFrame(frame: CoordinatorFrame): Uint8Array {
  return encode(coordinatorFrame, frame);
}

/** Throws EXECUTOR_LOST. */
export function decodeWorkerFrame(bytes: Uint8Array): WorkerFrame {
  return decode(
    workerFrame,
    bytes,
    (problem) => new QueryError('EXECUTOR_LOST', `it sends no frame: ${problem}`),
  );
}

/** Throws FRAGMENT_REFUSED. */
export function decodeCoordinatorFrame(bytes: Uint8Array): CoordinatorFrame {
  return decode(
    coordinatorFrame,
    bytes,
    (problem) => new QueryError('FRAGMENT_REFUSED', `What came is no frame of a task: ${problem}.`),
  );
}

function encode<T>(codec: Codec<T>, frame: T): Uint8Array {
  const out = new WireWriter(maxFrameBytes);
  codec.write(out, frame);
  return out.finish();
}

function decode<T>(codec: Codec<T>, bytes: Uint8Array, error: (problem: string) => QueryError): T {
  if (bytes.byteLength > maxFrameBytes) throw error('it is too large');
  try {
    return codec.read(new WireReader(bytes, { skipsUnknown: true }));
  } catch (caught) {
    throw caught instanceof WireError ? error(caught.message) : caught;
  }
}

/** The bytes of a task for another machine. They hold secrets: they go to one executor, and nowhere else. */
import { QueryError } from '@svc/base';
import type { StoreGrant } from '@svc/lake';
import { fragmentProtocolVersion } from '../request.js';
import type { SplitRequest } from '../splits/split-task.js';
import { checkTask } from './check-task.js';
import { list, nullable, record, required } from './codec.js';
import { storeGrant } from './grant-codec.js';
import { splitRequest } from './request-codec.js';
import { WireError, WireReader } from './wire-reader.js';
import { WireWriter } from './wire-writer.js';

/** What travels to another machine: the request, and what its tables' stores were granted. */
export interface RemoteTask {
  readonly request: SplitRequest;
  /** One for each of the request's tables, where it has files. */
  readonly grants: readonly (StoreGrant | undefined)[];
}

/**
 * The oldest version that reads a task of this one rightly. It is raised with a field that must not be passed over; then
 * executors that are one version behind are left out until they are replaced.
 */
const minimumReaderVersion = 2;

/** The oldest version whose tasks have all that is needed here. Never below the one before. */
const oldestReadVersion = fragmentProtocolVersion - 1;

const maxTaskBytes = 64 * 1024 * 1024;
const signature = Buffer.from('svcf', 'latin1');

interface TaskOnWire {
  readonly request: SplitRequest;
  readonly grants: readonly (StoreGrant | null)[];
}

const taskOnWire = record<TaskOnWire>({
  request: required(1, splitRequest),
  grants: required(2, list(nullable(storeGrant))),
});

/** Throws NOT_SUPPORTED for what does not travel, or is too large to. */
export function encodeTask({ request, grants }: RemoteTask): Uint8Array {
  const out = new WireWriter(maxTaskBytes);
  out.bytes(signature);
  out.uint(fragmentProtocolVersion);
  out.uint(minimumReaderVersion);
  taskOnWire.write(out, { request, grants: grants.map((grant) => grant ?? null) });
  return out.finish();
}

/** Throws FRAGMENT_REFUSED, also for another protocol version that is not understood here. */
export function decodeTask(bytes: Uint8Array): RemoteTask {
  if (bytes.byteLength > maxTaskBytes) throw refused(`it has more than ${maxTaskBytes} bytes`);
  const versions = readVersions(bytes);
  const skipsUnknown = versions.written > fragmentProtocolVersion;
  const input = new WireReader(bytes.subarray(versions.length), { skipsUnknown });
  try {
    const { request, grants } = taskOnWire.read(input);
    const task = {
      request: { ...request, protocolVersion: fragmentProtocolVersion },
      grants: grants.map((grant) => grant ?? undefined),
    };
    const problem = checkTask(task);
    if (problem !== undefined) throw refused(problem);
    return task;
  } catch (error) {
    throw error instanceof WireError ? refused(error.message) : error;
  }
}

function readVersions(bytes: Uint8Array): { readonly written: number; readonly length: number } {
  const input = new WireReader(bytes, { skipsUnknown: false });
  try {
    if (!signature.every((byte) => input.byte() === byte)) throw refused('it does not begin like one');
    const written = input.uint();
    const minimum = input.uint();
    const isReadable =
      written > fragmentProtocolVersion
        ? written === fragmentProtocolVersion + 1 && minimum <= fragmentProtocolVersion
        : written >= oldestReadVersion;
    if (!isReadable)
      throw new QueryError(
        'FRAGMENT_REFUSED',
        `The fragment is of protocol version ${written}, to be read by ${minimum} or newer; version ${fragmentProtocolVersion} is spoken here.`,
      );
    return { written, length: bytes.byteLength - input.remaining };
  } catch (error) {
    throw error instanceof WireError ? refused(error.message) : error;
  }
}

function refused(problem: string): QueryError {
  return new QueryError('FRAGMENT_REFUSED', `What came is no fragment: ${problem}.`);
}

import { randomUUID } from 'node:crypto';
import { closeSync, constants, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import { createMemoryFile, discardPages, mapShared, unmap, viewMemory } from './libc.js';

/** Memory that two processes see. */
export interface SharedMapping {
  readonly bytes: Buffer;
  /** Gives the pages back to the system; the mapping stays valid and reads as zero. */
  discard(offset: number, byteLength: number): void;
}

/**
 * Reading unmapped memory ends the process, and nobody can prove that no reader kept a view. So a mapping is
 * unmapped only by the garbage collector, when its ArrayBuffer (which every view of it keeps alive) is gone; its
 * pages are given back earlier with `discard`.
 */
const unmapWhenUnreachable = new FinalizationRegistry<{
  readonly address: bigint;
  readonly byteLength: number;
}>(({ address, byteLength }) => unmap(address, byteLength));

/** Maps an open file of at least `byteLength` bytes. The descriptor may be closed afterwards. */
export function mapFile(fd: number, byteLength: number): SharedMapping {
  const address = mapShared(fd, byteLength);
  if (address === undefined)
    throw new QueryError('INTERNAL_ERROR', `The system refused a shared mapping of ${byteLength} bytes.`);
  const memory = viewMemory(address, byteLength);
  unmapWhenUnreachable.register(memory, { address, byteLength });
  return {
    bytes: Buffer.from(memory),
    discard(offset, length) {
      discardPages(address + BigInt(offset), length);
    },
  };
}

/**
 * A nameless file to map: memory of the kernel on Linux (not /dev/shm, which containers keep at 64 MB), elsewhere
 * a file in `folder` that is unlinked at once, with its blocks written so that a full disk shows here and not as a
 * bus error later. The caller closes the descriptor.
 */
export function createSharedFile(folder: string, byteLength: number): number {
  const memory = createMemoryFile('svc-engine-ring');
  if (memory !== undefined) {
    ftruncateSync(memory, byteLength);
    return memory;
  }
  const path = join(folder, `ring-${randomUUID()}`);
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    unlinkSync(path);
    const zeros = Buffer.alloc(1 << 20);
    for (let offset = 0; offset < byteLength; offset += zeros.length)
      writeSync(fd, zeros, 0, Math.min(zeros.length, byteLength - offset), offset);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw QueryError.from(error);
  }
}

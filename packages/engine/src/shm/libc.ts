import koffi from 'koffi';

/**
 * The few calls of the C library that Node does not offer: shared mappings, limits, waiting on a descriptor.
 * Numbers are those of the platform's headers; nothing here interprets a result.
 */

const isLinux = process.platform === 'linux';
// The process itself: its C library is already loaded, whatever it is called.
const libc = koffi.load(null);

/** `mmap` answers this instead of an address when it fails. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;
const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;
const MADV_REMOVE = 9;
const MFD_CLOEXEC = 1;
const RLIMIT_DATA = 2;
const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = isLinux ? 0o4000 : 4;
const LOCK_EX_NB = 2 | 4;
const POLLIN = 1;
const EINTR = 4;
const SIG_IGN = 1n;

const nfds = isLinux ? 'unsigned long' : 'unsigned int';
const mmapCall = libc.func(
  'void* mmap(void* address, size_t length, int protection, int flags, int fd, int64_t offset)',
);
const munmapCall = libc.func('int munmap(void* address, size_t length)');
const madviseCall = libc.func('int madvise(void* address, size_t length, int advice)');
const fcntlCall = libc.func('int fcntl(int fd, int command, ...)');
const flockCall = libc.func('int flock(int fd, int operation)');
const pollCall = libc.func(`int poll(uint8_t* fds, ${nfds} count, int timeoutMs)`);
const setrlimitCall = libc.func('int setrlimit(int resource, uint8_t* limit)');
const signalCall = libc.func('void* signal(int number, intptr_t handler)');
const memfdCreateCall = isLinux
  ? libc.func('int memfd_create(const char* name, unsigned int flags)')
  : undefined;

/** Whether `limitDataMemory` works here; elsewhere resident memory has to be watched. */
export const canLimitDataMemory = isLinux;

/** An address as koffi passes it around; 64 bits. */
export type Address = bigint;

/** Maps `byteLength` bytes of the file, shared and writable; `undefined` with the error number when refused. */
export function mapShared(fd: number, byteLength: number): Address | undefined {
  const address = BigInt(mmapCall(null, byteLength, PROT_READ_WRITE, MAP_SHARED, fd, 0) ?? MAP_FAILED);
  return address === MAP_FAILED ? undefined : address;
}

/** After this, touching any buffer over the range ends the process: only a finaliser may call it. */
export function unmap(address: Address, byteLength: number): void {
  munmapCall(address, byteLength);
}

/** The bytes at the address, without a copy. The buffer does not keep the mapping alive; see SharedMapping. */
export function viewMemory(address: Address, byteLength: number): ArrayBuffer {
  return koffi.view(address, byteLength);
}

/** Gives the pages of a shared mapping back to the system; they read as zero afterwards. False where unsupported. */
export function discardPages(address: Address, byteLength: number): boolean {
  return isLinux && madviseCall(address, byteLength, MADV_REMOVE) === 0;
}

/** An anonymous file in memory that no folder lists; `undefined` where the system has none. */
export function createMemoryFile(name: string): number | undefined {
  const fd = Number(memfdCreateCall?.(name, MFD_CLOEXEC) ?? -1);
  return fd < 0 ? undefined : fd;
}

/** Makes reads and writes on the descriptor block. */
export function setBlocking(fd: number): void {
  const flags = Number(fcntlCall(fd, F_GETFL));
  if (flags >= 0 && (flags & O_NONBLOCK) !== 0) fcntlCall(fd, F_SETFL, 'int', flags & ~O_NONBLOCK);
}

/** True once the descriptor can be read (or has ended), false after `timeoutMs` (-1 waits for ever). */
export function waitReadable(fd: number, timeoutMs: number): boolean {
  const entry = Buffer.alloc(8);
  entry.writeInt32LE(fd, 0);
  entry.writeInt16LE(POLLIN, 4);
  for (;;) {
    const ready = Number(pollCall(entry, 1, timeoutMs));
    if (ready >= 0) return ready > 0;
    if (koffi.errno() !== EINTR) return true;
  }
}

/** Takes the advisory lock of an open file; false when another process (or descriptor) has it. */
export function tryLockFile(fd: number): boolean {
  return Number(flockCall(fd, LOCK_EX_NB)) === 0;
}

/**
 * Bounds the private writable memory of this process (Linux counts it in VmData), so that an allocation beyond it
 * fails and the engine reports it. False when refused.
 */
export function limitDataMemory(bytes: bigint): boolean {
  const limit = Buffer.alloc(16);
  limit.writeBigUInt64LE(bytes, 0);
  limit.writeBigUInt64LE(bytes, 8);
  return Number(setrlimitCall(RLIMIT_DATA, limit)) === 0;
}

/** Ignores a signal for good, also while JavaScript does not run. */
export function ignoreSignal(number: number): void {
  signalCall(number, SIG_IGN);
}

/** Tells which files of some folders were opened, by Linux's inotify; elsewhere it tells nothing. */
import { closeSync, readSync } from 'node:fs';
import koffi from 'koffi';

export interface FileWatch {
  /** Names of what was opened, made or removed since the last call. */
  taken(): readonly string[];
  close(): void;
}

const flags = { nonBlocking: 0x800, open: 0x20, create: 0x100, remove: 0x200, move: 0xc0 } as const;
/** Four fields of 32 bits, of which the last is the length of the name behind them. */
const headBytes = 16;

export function watchFiles(folders: readonly string[]): FileWatch {
  if (process.platform !== 'linux') return { taken: () => [], close: () => undefined };
  const libc = koffi.load('libc.so.6');
  const initialize = libc.func('int inotify_init1(int flags)');
  const addWatch = libc.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)');
  const descriptor = Number(initialize(flags.nonBlocking));
  if (descriptor < 0) throw new Error('inotify is not there');
  const watched = new Map(
    folders.map((folder) => [
      Number(addWatch(descriptor, folder, flags.open | flags.create | flags.remove | flags.move)),
      folder,
    ]),
  );
  const buffer = Buffer.alloc(65_536);
  return {
    taken: () => {
      const names = new Set<string>();
      for (let length = readSome(descriptor, buffer); length > 0; length = readSome(descriptor, buffer))
        for (let at = 0; at < length; ) {
          const nameBytes = buffer.readUInt32LE(at + 12);
          const name = buffer
            .toString('utf8', at + headBytes, at + headBytes + nameBytes)
            .replace(/\0+$/, '');
          names.add(`${watched.get(buffer.readInt32LE(at))}/${name}`);
          at += headBytes + nameBytes;
        }
      return [...names];
    },
    close: () => closeSync(descriptor),
  };
}

function readSome(descriptor: number, buffer: Buffer): number {
  try {
    return readSync(descriptor, buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The file that lines are appended to. Each method throws what the operating system answers. */
export interface AuditFile {
  /** Answers how many of the bytes were taken: at least one. */
  append(bytes: Uint8Array): Promise<number>;
  /** Whether the file has lost its name: what was written to it is lost with it. */
  isGone(): Promise<boolean>;
  /** Takes these bytes off the end of the file, if they are what it ends with. */
  cutBack(bytes: Uint8Array): Promise<void>;
  /** Brings what was written to the disk, and closes. */
  close(): Promise<void>;
}

/**
 * Opens the file for append, and makes it (mode 0600) where there is none. A last line without an end, as a crash or a
 * full disk may leave one, is ended before anything is appended. Of special files only devices are taken: the reader of
 * a pipe could go away or stop reading.
 */
export async function openAuditFile(path: string): Promise<AuditFile> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  // Without waiting: opening a pipe that nobody reads would never end.
  const handle = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() && !stats.isCharacterDevice()) throw new Error('it is neither a file nor a device');
    const isTorn = stats.isFile() && stats.size > 0 && (await tailOf(handle, 1))[0] !== lineFeed;
    return auditFileOf(handle, stats.isFile(), isTorn);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const lineFeed = 0x0a;

function auditFileOf(handle: FileHandle, isRegular: boolean, isTornAtStart: boolean): AuditFile {
  let isTorn = isTornAtStart;
  const write = async (bytes: Uint8Array): Promise<number> => {
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten === 0) throw new Error('nothing was written');
    return bytesWritten;
  };
  return {
    async append(bytes) {
      if (isTorn) {
        await write(Buffer.of(lineFeed));
        isTorn = false;
      }
      return await write(bytes);
    },
    isGone: async () => isRegular && (await handle.stat()).nlink === 0,
    async cutBack(bytes) {
      if (!isRegular || !(await tailOf(handle, bytes.length)).equals(bytes)) return;
      await handle.truncate((await handle.stat()).size - bytes.length);
    },
    async close() {
      try {
        if (isRegular) await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

async function tailOf(handle: FileHandle, length: number): Promise<Buffer> {
  const { size } = await handle.stat();
  const tail = Buffer.alloc(length);
  const { bytesRead } = await handle.read(tail, 0, length, Math.max(0, size - length));
  return tail.subarray(0, bytesRead);
}

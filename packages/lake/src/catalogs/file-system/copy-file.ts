import { type FileHandle, open } from 'node:fs/promises';
import { throwIfAborted } from '@svc/base';
import { fileError } from '../../storage/file-errors.js';

export interface CopyFileOptions {
  /** Called after every piece. */
  readonly onCopied: (copiedBytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const pieceBytes = 4 * 1024 * 1024;

/** Copies a file to a path that must not exist yet, synced to the disk, and answers its size. */
export async function copyFile(source: string, target: string, options: CopyFileOptions): Promise<number> {
  const input = await openSource(source);
  try {
    const output = await open(target, 'wx');
    try {
      return await copyPieces(input, output, options);
    } finally {
      await output.close();
    }
  } finally {
    await input.close();
  }
}

async function openSource(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw fileError(path, error);
  }
}

async function copyPieces(input: FileHandle, output: FileHandle, options: CopyFileOptions): Promise<number> {
  const piece = Buffer.allocUnsafeSlow(pieceBytes);
  for (let copied = 0; ; ) {
    throwIfAborted(options.signal);
    const { bytesRead } = await input.read(piece, 0, pieceBytes, copied);
    if (bytesRead === 0) {
      await output.sync();
      return copied;
    }
    // FileHandle.writeFile, unlike write, goes on until everything is written.
    await output.writeFile(piece.subarray(0, bytesRead));
    copied += bytesRead;
    options.onCopied(copied);
  }
}

import type { FileHandle } from 'node:fs/promises';

/** One behind the other from `position` on, whatever the system takes at a time. Answers the position behind them. */
export async function writeFully(
  file: FileHandle,
  parts: readonly Uint8Array[],
  position: number,
): Promise<number> {
  let end = position;
  for (let left = parts.filter(({ length }) => length > 0); left.length > 0; ) {
    const { bytesWritten } = await file.writev(left, end);
    end += bytesWritten;
    left = withoutFirst(left, bytesWritten);
  }
  return end;
}

function withoutFirst(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let done = bytes;
  return parts.flatMap((part) => {
    const cut = Math.min(done, part.length);
    done -= cut;
    return cut === part.length ? [] : [part.subarray(cut)];
  });
}

import { linkAbort, QueryError } from '@svc/base';
import type { ByteRange, ObjectStore } from '@svc/lake';

const pieceBytes = 8 * 1024 * 1024;

export interface StoredPart {
  readonly location: string;
  readonly bytes: number;
}

/** The bytes of an object of known length: while one piece is used the next one is fetched, and no more. */
export async function* readPart(
  store: Pick<ObjectStore, 'readRanges'>,
  { location, bytes }: StoredPart,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  using stop = linkAbort(signal);
  const fetchFrom = async (start: number): Promise<Uint8Array | undefined> => {
    if (start >= bytes) return undefined;
    const range: ByteRange = { start, end: Math.min(start + pieceBytes, bytes) };
    const [piece] = await store.readRanges(location, [range], { signal: stop.signal });
    return piece;
  };
  const begin = (start: number): Promise<Uint8Array | undefined> => {
    const piece = fetchFrom(start);
    piece.catch(() => undefined); // Reported when its turn comes.
    return piece;
  };
  let next = begin(0);
  try {
    for (let start = 0; start < bytes; start += pieceBytes) {
      const piece = await next;
      next = begin(start + pieceBytes);
      if (piece !== undefined) yield piece;
    }
  } finally {
    stop.abort(new QueryError('CANCELLED', 'The part was no longer needed.'));
    await next.catch(() => undefined);
  }
}

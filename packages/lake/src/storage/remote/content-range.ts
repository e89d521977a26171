/** A part of an object, half-open, and the size of the whole. */
export interface ContentRange {
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

/** `bytes 0-99/1000`; `undefined` for anything else, a size of `*` too. */
export function contentRange(header: string | undefined): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(header?.trim() ?? '');
  if (match === null) return undefined;
  const [start, last, sizeBytes] = match.slice(1).map(Number);
  if (start === undefined || last === undefined || sizeBytes === undefined) return undefined;
  return start <= last && last < sizeBytes ? { start, end: last + 1, sizeBytes } : undefined;
}

/** Which columns of a table are shown and how wide they are, so that a line fits a terminal. */
export interface FittedColumns {
  /** Positions of the columns that are shown; a gap in them is where others are left out. */
  readonly shown: readonly number[];
  /** One per shown column. */
  readonly widths: readonly number[];
}

/** Columns are not made narrower than this to make room for more of them. */
const minWidth = 4;
/** Between two columns: blank, line, blank. */
const separatorWidth = 3;
/** One blank at both ends of a line. */
const marginWidth = 2;

/** Wide columns give way first; when all are narrow and it is still too much, those in the middle are left out. */
export function fitColumns(natural: readonly number[], available: number | undefined): FittedColumns {
  const all = natural.map((_width, index) => index);
  if (available === undefined || lineWidth(natural) <= available) return { shown: all, widths: natural };
  for (let count = natural.length; count > 1; count--) {
    const shown = count === natural.length ? all : ends(natural.length, count);
    const wanted = shown.map((index) => natural[index] ?? 0);
    // The column of dots that stands for those left out.
    const dots = count === natural.length ? 0 : separatorWidth + 1;
    const room = available - dots - (lineWidth(wanted) - sum(wanted));
    if (sum(wanted.map((width) => Math.min(width, minWidth))) <= room)
      return { shown, widths: narrowed(wanted, room) };
  }
  const dots = natural.length > 1 ? separatorWidth + 1 : 0;
  return { shown: [0], widths: [Math.max(1, Math.min(natural[0] ?? 0, available - dots - marginWidth))] };
}

/** Widths below the greatest limit under which they fit the room. */
function narrowed(wanted: readonly number[], room: number): readonly number[] {
  let low = minWidth;
  let high = Math.max(...wanted);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sum(wanted.map((width) => Math.min(width, middle))) <= room) low = middle;
    else high = middle - 1;
  }
  return wanted.map((width) => Math.min(width, low));
}

function ends(total: number, count: number): readonly number[] {
  const first = Math.ceil(count / 2);
  return Array.from({ length: count }, (_value, index) => (index < first ? index : total - count + index));
}

function lineWidth(widths: readonly number[]): number {
  return sum(widths) + separatorWidth * Math.max(0, widths.length - 1) + marginWidth;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

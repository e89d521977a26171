/** Which part of a Parquet file is needed: whole top-level columns of some row groups. */
export interface Selection {
  /** Ascending, without repetition. */
  readonly rowGroups: readonly number[];
  /** Top-level names, sorted, without repetition. */
  readonly columns: readonly string[];
}

export function makeSelection(rowGroups: Iterable<number>, columns: Iterable<string>): Selection {
  return {
    rowGroups: [...new Set(rowGroups)].sort((a, b) => a - b),
    columns: [...new Set(columns)].sort(),
  };
}

export function unionOf(a: Selection, b: Selection): Selection {
  return makeSelection([...a.rowGroups, ...b.rowGroups], [...a.columns, ...b.columns]);
}

export function intersectionOf(a: Selection, b: Selection): Selection {
  const [rowGroups, columns] = [new Set(b.rowGroups), new Set(b.columns)];
  return {
    rowGroups: a.rowGroups.filter((rowGroup) => rowGroups.has(rowGroup)),
    columns: a.columns.filter((column) => columns.has(column)),
  };
}

/** Whether everything in `inner` is also in `outer`. */
export function isCovered(inner: Selection, outer: Selection): boolean {
  return isSubset(inner.columns, outer.columns) && isSubset(inner.rowGroups, outer.rowGroups);
}

/** Both in ascending order. */
function isSubset<T>(inner: readonly T[], outer: readonly T[]): boolean {
  if (inner.length > outer.length) return false;
  let next = 0;
  for (const item of outer) if (next < inner.length && inner[next] === item) next += 1;
  return next === inner.length;
}

/** `[0,1,2,7]` as `[[0,2],[7,7]]`. */
export function toRanges(numbers: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_unused, index) => first + index),
  );
}

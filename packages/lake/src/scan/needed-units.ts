import type { RowCounter } from './row-counter.js';
import { type BoundUse, mayHaveTop, type RowFacts, unitsOfFirst } from './row-use.js';

/**
 * Which row groups of which files must be read where the use of their rows is limited; a file of which nothing but its
 * metadata is known is one unit. They come in the order in which they would be read. What the counter takes is counted,
 * and not needed any more.
 */
export function neededUnits(
  files: readonly (readonly RowFacts[])[],
  use: BoundUse,
  counter: RowCounter | undefined,
): readonly (readonly boolean[])[] {
  const { rows } = use;
  if (rows.kind === 'extremes')
    return files.map((units) => {
      const isCounted = counter?.addAll(units) === true;
      return units.map(() => !isCounted);
    });
  const units = files.flat();
  const firstCount = rows.kind === 'first' ? unitsOfFirst(units, rows.rowCount) : 0;
  const flags =
    rows.kind === 'top' ? mayHaveTop(units, use, rows) : units.map((_unit, index) => index < firstCount);
  let next = 0;
  return files.map((file) => {
    next += file.length;
    return flags.slice(next - file.length, next);
  });
}

import type { Answer } from '../answer/answer.js';
import { readBatches, readSchema } from '../answer/read-batches.js';
import type { FormatOptions, Pieces } from './format.js';
import { pieces, textColumns } from './text-rows.js';
import { displayWidth, padded, truncated, visibleText } from './visible-text.js';

/** Names take at most this share of a line. */
const nameShare = 0.5;
const separator = ' │ ';

/** One line per value, for answers with many columns. */
export async function* expandedFormat(answer: Answer, { width }: FormatOptions): Pieces {
  const names = readSchema(answer.schema).fields.map((field) => visibleText(field.name));
  const natural = Math.max(1, ...names.map(displayWidth));
  const nameWidth = width === undefined ? natural : Math.min(natural, Math.floor(width * nameShare));
  const valueWidth = width === undefined ? undefined : Math.max(1, width - nameWidth - separator.length);
  let rowCount = 0;
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: ' ' });
    const before = rowCount;
    yield* pieces(batch.numRows, (row) => {
      const title = `─[ row ${before + row + 1} ]`;
      const lines = columns.map((column, index) => {
        const value = visibleText(column.text(row) ?? 'NULL');
        const shown = valueWidth === undefined ? value : truncated(value, valueWidth);
        return `${padded(names[index] ?? '', nameWidth, 'right', width !== undefined)}${separator}${shown}\n`;
      });
      return `${title.padEnd(Math.min(40, width ?? 40), '─')}\n${lines.join('')}`;
    });
    rowCount += batch.numRows;
  }
  yield `(${rowCount} ${rowCount === 1 ? 'row' : 'rows'})\n`;
  return rowCount;
}

import { DataType, type Field } from 'apache-arrow';
import type { Answer } from '../answer/answer.js';
import { readBatches, readSchema } from '../answer/read-batches.js';
import type { Pieces } from './format.js';
import { pieces, textColumns } from './text-rows.js';
import { visibleText } from './visible-text.js';

/** A GitHub-flavoured table; numbers to the right. */
export async function* markdownFormat(answer: Answer): Pieces {
  const { fields } = readSchema(answer.schema);
  yield `| ${fields.map((field) => markdownCell(field.name)).join(' | ')} |\n`;
  yield `| ${fields.map((field) => (isNumeric(field) ? '---:' : '---')).join(' | ')} |\n`;
  let rowCount = 0;
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: ' ' });
    yield* pieces(batch.numRows, (row) => {
      const cells = columns.map((column) => markdownCell(column.text(row) ?? 'NULL'));
      return `| ${cells.join(' | ')} |\n`;
    });
    rowCount += batch.numRows;
  }
  return rowCount;
}

/** Whether values line up at their right end. */
export function isNumeric({ type }: Pick<Field, 'type'>): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type);
}

function markdownCell(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map(visibleText);
  return lines.join('<br>').replaceAll('|', '\\|');
}

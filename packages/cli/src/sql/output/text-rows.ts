import type { RecordBatch } from 'apache-arrow';
import { type ColumnText, type ColumnTextOptions, columnText } from '../answer/column-text.js';

/** Rows that are written out together: bounds the text in memory, and how long the output can go unlooked at. */
const rowsPerPiece = 1024;

/** The batch's columns as text. */
export function textColumns(batch: RecordBatch, options: ColumnTextOptions): readonly ColumnText[] {
  return batch.data.children.map((data) => columnText(data, options));
}

/** Text of all rows of a batch, a bounded number at a time. */
export function* pieces(rowCount: number, writeRow: (row: number) => string): Generator<string> {
  for (let from = 0; from < rowCount; from += rowsPerPiece) {
    let text = '';
    const to = Math.min(rowCount, from + rowsPerPiece);
    for (let row = from; row < to; row++) text += writeRow(row);
    yield text;
  }
}

import type { Schema } from 'apache-arrow';
import type { Answer } from '../answer/answer.js';
import { type ColumnText, jsonText } from '../answer/column-text.js';
import { readBatches, readSchema } from '../answer/read-batches.js';
import { distinctNames } from './distinct-names.js';
import type { Pieces } from './format.js';
import { pieces, textColumns } from './text-rows.js';

/** One array with an object per row. */
export async function* jsonFormat(answer: Answer): Pieces {
  const keys = objectKeys(readSchema(answer.schema));
  let rowCount = 0;
  yield '[';
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: 'T' });
    const isFirstBatch = rowCount === 0;
    yield* pieces(batch.numRows, (row) => {
      const separator = isFirstBatch && row === 0 ? '\n' : ',\n';
      return separator + objectText(keys, columns, row);
    });
    rowCount += batch.numRows;
  }
  yield rowCount === 0 ? ']\n' : '\n]\n';
  return rowCount;
}

/** One object per line. */
export async function* ndjsonFormat(answer: Answer): Pieces {
  const keys = objectKeys(readSchema(answer.schema));
  let rowCount = 0;
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: 'T' });
    yield* pieces(batch.numRows, (row) => `${objectText(keys, columns, row)}\n`);
    rowCount += batch.numRows;
  }
  return rowCount;
}

function objectKeys({ fields }: Schema): readonly string[] {
  const names = fields.map((field) => field.name);
  return distinctNames(names, (name) => name).map((name) => JSON.stringify(name));
}

function objectText(keys: readonly string[], columns: readonly ColumnText[], row: number): string {
  let text = '{';
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index];
    if (index > 0) text += ',';
    if (column !== undefined) text += `${keys[index]}:${jsonText(column, row)}`;
  }
  return `${text}}`;
}

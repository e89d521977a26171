import type { Answer } from '../answer/answer.js';
import { readBatches, readSchema } from '../answer/read-batches.js';
import type { Pieces } from './format.js';
import { pieces, textColumns } from './text-rows.js';

const needsQuotes = /[",\r\n]/;

/** RFC 4180 with a header line. NULL is an empty field, the empty text is `""`. */
export async function* csvFormat(answer: Answer): Pieces {
  const { fields } = readSchema(answer.schema);
  yield `${fields.map((field) => csvField(field.name)).join(',')}\r\n`;
  let rowCount = 0;
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: 'T' });
    yield* pieces(batch.numRows, (row) => {
      let line = '';
      for (let index = 0; index < columns.length; index++) {
        const text = columns[index]?.text(row);
        if (index > 0) line += ',';
        if (text !== undefined) line += csvField(text);
      }
      return `${line}\r\n`;
    });
    rowCount += batch.numRows;
  }
  return rowCount;
}

function csvField(text: string): string {
  if (text === '') return '""';
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

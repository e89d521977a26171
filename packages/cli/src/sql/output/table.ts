/** Aligned columns for a person. The first rows decide how wide columns are; no more than those are held. */
import type { Field } from 'apache-arrow';
import type { Answer } from '../answer/answer.js';
import type { ColumnText } from '../answer/column-text.js';
import { readBatches, readSchema } from '../answer/read-batches.js';
import { type FittedColumns, fitColumns } from './fit-columns.js';
import type { FormatOptions, Pieces } from './format.js';
import { isNumeric } from './markdown.js';
import { pieces, textColumns } from './text-rows.js';
import { displayWidth, padded, visibleText } from './visible-text.js';

const maxSampleRows = 1024;
const maxSampleCharacters = 1 << 20;
/** What a terminal cannot show of a cell is not looked at. */
const maxCutCellCharacters = 10_000;
/** Where nothing is cut, longer values stand out of their column: one of them must not fill all the others with blanks. */
const maxPaddedWidth = 256;

export async function* tableFormat(answer: Answer, { width }: FormatOptions): Pieces {
  const { fields } = readSchema(answer.schema);
  const sample = new Sample(fields.length);
  let layout: Layout | undefined;
  let rowCount = 0;
  for await (const batch of readBatches(answer)) {
    const columns = textColumns(batch, { separator: ' ' });
    let row = 0;
    while (layout === undefined && row < batch.numRows) {
      sample.add(columns.map((column) => cellText(column, row, width !== undefined)));
      row += 1;
      if (!sample.isFull) continue;
      layout = new Layout(fields, sample, width);
      yield layout.head() + sample.rows.map((cells) => layout?.line(cells) ?? '').join('');
    }
    const known = layout;
    const from = row;
    if (known !== undefined)
      yield* pieces(batch.numRows - from, (index) =>
        known.line(
          known.fit.shown.map((column) => cellText(columns[column], from + index, width !== undefined)),
          true,
        ),
      );
    rowCount += batch.numRows;
  }
  if (layout === undefined) {
    const whole = new Layout(fields, sample, width);
    yield whole.head();
    yield* pieces(sample.rows.length, (row) => whole.line(sample.rows[row] ?? []));
    layout = whole;
  }
  yield layout.foot(rowCount);
  return rowCount;
}

function cellText(column: ColumnText | undefined, row: number, isCut: boolean): string {
  const text = column?.text(row) ?? 'NULL';
  const isTooLong = isCut && text.length > maxCutCellCharacters;
  return visibleText(isTooLong ? `${text.slice(0, maxCutCellCharacters)}…` : text);
}

/** The rows that come before the widths are decided, and the widths that they want. */
class Sample {
  readonly rows: (readonly string[])[] = [];
  readonly widths: number[];
  #characters = 0;

  constructor(columnCount: number) {
    this.widths = new Array<number>(columnCount).fill(0);
  }

  get isFull(): boolean {
    return this.rows.length >= maxSampleRows || this.#characters >= maxSampleCharacters;
  }

  add(cells: readonly string[]): void {
    this.rows.push(cells);
    cells.forEach((cell, index) => {
      this.#characters += cell.length;
      this.widths[index] = Math.max(this.widths[index] ?? 0, displayWidth(cell));
    });
  }
}

class Layout {
  readonly fit: FittedColumns;
  readonly #fields: readonly Field[];
  readonly #isCut: boolean;

  constructor(fields: readonly Field[], { widths }: Sample, width: number | undefined) {
    const natural = fields.map((field, index) =>
      Math.max(1, displayWidth(visibleText(field.name)), widths[index] ?? 0),
    );
    const padded = width === undefined ? natural.map((each) => Math.min(each, maxPaddedWidth)) : natural;
    this.fit = fitColumns(padded, width);
    this.#fields = fields;
    this.#isCut = width !== undefined;
  }

  head(): string {
    if (this.#fields.length === 0) return '';
    const names = this.line(this.#fields.map((field) => visibleText(field.name)));
    const rules = this.fit.widths.map((width) => '─'.repeat(width));
    return `${names}${`─${this.#joined(rules, '─┼─', '─')}─`}\n`;
  }

  /** A row of all columns, or of the shown ones only. */
  line(cells: readonly string[], isShownOnly = false): string {
    if (this.#fields.length === 0) return '\n';
    const texts = this.fit.shown.map((column, index) => {
      const field = this.#fields[column];
      const side = field !== undefined && isNumeric(field) ? 'left' : 'right';
      const cell = cells[isShownOnly ? index : column] ?? '';
      return padded(cell, this.fit.widths[index] ?? 1, side, this.#isCut);
    });
    return ` ${this.#joined(texts, ' │ ', '…')}`.trimEnd().concat('\n');
  }

  foot(rowCount: number): string {
    const rows = `${rowCount} ${rowCount === 1 ? 'row' : 'rows'}`;
    const total = this.#fields.length;
    const shown = this.fit.shown.length;
    return shown === total ? `(${rows})\n` : `(${rows}, ${shown} of ${total} columns shown)\n`;
  }

  /** With a column of dots where columns are left out. */
  #joined(texts: readonly string[], separator: string, dots: string): string {
    const { shown } = this.fit;
    const parts = texts.flatMap((text, index) =>
      (shown[index + 1] ?? this.#fields.length) === (shown[index] ?? 0) + 1 ? [text] : [text, dots],
    );
    return parts.join(separator);
  }
}

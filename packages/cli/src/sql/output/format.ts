import type { Answer } from '../answer/answer.js';
import { arrowStreamFormat } from './arrow.js';
import { csvFormat } from './csv.js';
import { expandedFormat } from './expanded.js';
import { jsonFormat, ndjsonFormat } from './json.js';
import { markdownFormat } from './markdown.js';
import { parquetFormat } from './parquet.js';
import { tableFormat } from './table.js';

export interface FormatOptions {
  /** Columns of the terminal that tables must fit; undefined when they are as wide as they are. */
  readonly width: number | undefined;
  /** Ends what a format does itself; the answer has a signal of its own. */
  readonly signal?: AbortSignal | undefined;
}

/** Pieces of an answer's output, made as they are asked for. Returns the number of rows where they were counted. */
export type Pieces = AsyncGenerator<string | Uint8Array, number | undefined, undefined>;

export type Format = (answer: Answer, options: FormatOptions) => Pieces;

export const formats = {
  table: tableFormat,
  expanded: expandedFormat,
  csv: csvFormat,
  json: jsonFormat,
  ndjson: ndjsonFormat,
  markdown: markdownFormat,
  parquet: parquetFormat,
  arrow: arrowStreamFormat,
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;

export const formatNames: readonly FormatName[] = Object.keys(formats).filter(isFormatName);

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(formats, name);
}

/** Formats whose output is one answer and no text: neither for a terminal, nor for two answers in one file. */
export function isBinary(name: FormatName): boolean {
  return name === 'arrow' || name === 'parquet';
}

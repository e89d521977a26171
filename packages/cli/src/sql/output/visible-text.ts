/** Text of a result on a terminal: what takes part in the layout is what is seen, and nothing steers the terminal. */
import stringWidth from 'string-width';

/** Controls (C0, DEL, C1), line and paragraph separators, and what changes the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what it is for.
const invisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const plainAscii = /^[\x20-\x7e]*$/;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with every character that is not one to look at written as an escape. */
export function visibleText(text: string): string {
  if (plainAscii.test(text)) return text;
  return text.replace(
    invisible,
    (character) => named[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}

/** Columns that a visible text takes. */
export function displayWidth(text: string): number {
  return plainAscii.test(text) ? text.length : stringWidth(text);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The text cut to a width, with `…` for what is missing. */
export function truncated(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (plainAscii.test(text)) return `${text.slice(0, width - 1)}…`;
  let out = '';
  let used = 0;
  // A cell may be megabytes: what cannot fit is not looked at. No character seen is longer than 64 code units.
  for (const { segment } of graphemes.segment(text.slice(0, 64 * width))) {
    const next = displayWidth(segment);
    if (used + next > width - 1) break;
    out += segment;
    used += next;
  }
  return `${out}…`;
}

/** The text with blanks to a width, cut where it is longer and `isCut`. */
export function padded(text: string, width: number, side: 'left' | 'right', isCut: boolean): string {
  const shown = isCut ? truncated(text, width) : text;
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(shown)));
  return side === 'left' ? blanks + shown : shown + blanks;
}

/** Text of several lines, of which nothing steers the terminal. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n');
}

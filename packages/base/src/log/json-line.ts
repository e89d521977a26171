/**
 * One JSON object on one line, without its line feed. JSON escapes line feeds and C0 controls itself, but neither DEL and
 * C1 controls nor the Unicode line separators, at which some readers end a line. Texts must be well formed.
 */
export function jsonLine(record: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(record).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

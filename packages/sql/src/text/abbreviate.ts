const maxCharacters = 100;

/** A name out of a statement for an error message: whatever its length, the message stays short. */
export function abbreviate(text: string): string {
  if (text.length <= maxCharacters) return text;
  // A cut through a surrogate pair would leave half of it.
  return `${text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, '')}…`;
}

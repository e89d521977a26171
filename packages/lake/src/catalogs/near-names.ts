import { distance } from 'fastest-levenshtein';

const maxSuggestions = 3;
/** Comparing a name with more than these would take longer than the answer is worth. */
const maxCompared = 5000;

/** A sentence's end that names what a mistyped name may have meant: `; did you mean a or b?`, or just a full stop. */
export function suggestNames(wanted: string, existing: readonly string[]): string {
  const lowerCase = wanted.toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  const near = existing
    .slice(0, maxCompared)
    .filter((name) => Math.abs(name.length - wanted.length) <= limit)
    .map((name) => ({ name, edits: distance(lowerCase, name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, maxSuggestions)
    .map(({ name }) => JSON.stringify(name));
  return near.length === 0 ? '.' : `; did you mean ${near.join(' or ')}?`;
}

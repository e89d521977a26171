import { distance } from 'fastest-levenshtein';

/** Completes "unknown key `x`" with the nearest known name. */
export function nearestName(unknown: string, known: Iterable<string>): string {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const candidate = nameDistance(unknown, name);
    if (candidate < bestDistance) {
      best = name;
      bestDistance = candidate;
    }
  }
  return best === undefined ? '' : `; the nearest known one is \`${best}\``;
}

/** Typing errors count by letter; the right key in a wrong or missing section counts as one error. */
function nameDistance(unknown: string, known: string): number {
  const shown = unknown.slice(0, 200).toLowerCase();
  const whole = distance(shown, known.toLowerCase());
  const [unknownTail, knownTail] = [lastPart(shown), lastPart(known.toLowerCase())];
  return Math.min(whole, 1 + distance(unknownTail, knownTail) + (unknownTail === knownTail ? 0 : 1));
}

function lastPart(name: string): string {
  return name.split(/\.|__/).at(-1) ?? name;
}

/** A wrong value as a message shows it: its text when that may be printed, otherwise only what kind of value it is. */
export function describeRaw(raw: unknown, isPrintable: boolean): string {
  if (typeof raw === 'string') {
    if (raw === '') return 'an empty text';
    return isPrintable ? JSON.stringify(raw.length > 60 ? `${raw.slice(0, 60)}…` : raw) : 'the given text';
  }
  // A TOML float that happens to be whole is shown as one: "8080.0 is not an integer" is the point of the message.
  if (typeof raw === 'number' && isPrintable) return Number.isInteger(raw) ? raw.toFixed(1) : String(raw);
  if (typeof raw === 'bigint' || typeof raw === 'number' || typeof raw === 'boolean') {
    return isPrintable ? String(raw) : `the given ${typeof raw === 'boolean' ? 'boolean' : 'number'}`;
  }
  if (Array.isArray(raw)) return 'a list';
  return raw instanceof Date ? 'a date' : 'a table';
}

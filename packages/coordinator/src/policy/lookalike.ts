/**
 * Names that a catalog may take for one another. The database below a catalog may compare names without case, accents, width, characters
 * that are not seen and spaces at the end: it then answers the table `cafe` to who asks for `café`, and no answer says so.
 */

/** Equal for Unicode's root collation without case and accents, as MySQL's and SQL Server's usual ones are made from it. */
const { compare } = new Intl.Collator('und', { sensitivity: 'base' });

const latin = [...'abcdefghijklmnopqrstuvwxyz0123456789', 'ae', 'oe', 'ss', 'ij', 'dz', 'lj', 'nj'];
const isPlain = /^[ -~]*$/;
const katakana = /[ァ-ヶ]/u;
const kanaDistance = 0x60;

const folded = new Map<string, string>();
const maxFolded = 10_000;

/** The same text for two names that such a comparison finds equal, of most scripts; longer than the name by at most twice. */
export function lookalike(name: string): string {
  const lower = name.toLowerCase();
  const text = isPlain.test(lower) ? lower : [...lower.normalize('NFKC').toLowerCase()].map(fold).join('');
  return text.trimEnd();
}

function fold(character: string): string {
  if (isPlain.test(character)) return character;
  let found = folded.get(character);
  if (found === undefined) {
    found = foldAnew(character);
    if (folded.size < maxFolded) folded.set(character, found);
  }
  return found;
}

function foldAnew(character: string): string {
  if (compare(character, '') === 0) return '';
  const [bare = character] = character.normalize('NFD');
  const kana = katakana.test(character)
    ? [String.fromCodePoint((character.codePointAt(0) ?? 0) - kanaDistance)]
    : [];
  return [...latin, bare, ...kana].find((each) => compare(character, each) === 0) ?? character;
}

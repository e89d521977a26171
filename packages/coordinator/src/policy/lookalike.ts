/**
 * Names that a catalog may take for one another. The database below a catalog may compare names without case, accents, width, characters
 * that are not seen and spaces around them: it then answers the table `cafe` to who asks for `café`, and no answer says so. A catalog's
 * service may read more in a name than a name: Nessie's answers the table `orders` to who asks for `orders@main`, `orders#hash` or
 * one of these in quotes, Hive's the schema `sales` for `@hive#sales`, and what lies on paths `s/orders` for `../s/orders` in another
 * schema. What is between may undo percent-encoding once more.
 */

/** Equal for Unicode's root collation without case and accents, as MySQL's and SQL Server's usual ones are made from it. */
const { compare } = new Intl.Collator('und', { sensitivity: 'base' });

const latin = [...'abcdefghijklmnopqrstuvwxyz0123456789', 'ae', 'oe', 'ss', 'ij', 'dz', 'lj', 'nj'];
const isPlain = /^[ -~]*$/;
/** Nothing in it means anything to anybody. */
const isWord = /^[a-z0-9_-]+$/;
const katakana = /[ァ-ヶ]/u;
const kanaDistance = 0x60;

const folded = new Map<string, string>();
const maxFolded = 10_000;
const maxDecodings = 3;

/** What stands between levels of a namespace on the wire and in Nessie's store, where nobody would see it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the signs.
const hiddenSeparators = /[\u0000\u001d\u001f]/g;

/** The same levels for two schemas that such a comparison finds equal. */
export function lookalikeSchema(schema: string): readonly string[] {
  const lower = schema.toLowerCase();
  return isWord.test(lower) ? [lower] : steps(readable(schema).split('.').map(withoutReference).join('.'));
}

/** The same for two tables; the levels of its schema come first, unless the table's name leads elsewhere. */
export function lookalikeTable(schema: string, table: string): readonly string[] {
  const levels = lookalikeSchema(schema);
  const lower = table.toLowerCase();
  return isWord.test(lower) ? [...levels, lower] : steps(withoutReference(readable(table)), levels);
}

function readable(name: string): string {
  let text = name;
  for (let turn = 0; turn < maxDecodings && text.includes('%'); turn++) text = decoded(text);
  return foldedText(text.replace(hiddenSeparators, '/'));
}

/** Only what is text in UTF-8. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });
}

/** `name@reference#moment` is the name, and `@catalog#name` is too. */
function withoutReference(text: string): string {
  const name = text.replace(/^["'`\s]*@[^@#]*#/, '');
  const end = name.search(/[@#]/);
  return end > 0 ? name.slice(0, end) : name;
}

/** Where a path leads: a name may have several steps, or steps back. */
function steps(text: string, from: readonly string[] = []): readonly string[] {
  const found = [...from];
  for (const part of text.split(/[/\\]/)) {
    if (part.trim() === '..') found.pop();
    else
      for (const step of part.split('.')) {
        const name = step.replace(/^["'`\s]+|["'`\s]+$/g, '');
        if (name !== '') found.push(name);
      }
  }
  return found;
}

/** Of most scripts; longer than the name by at most twice. */
function foldedText(name: string): string {
  const lower = name.toLowerCase();
  return isPlain.test(lower) ? lower : [...lower.normalize('NFKC').toLowerCase()].map(fold).join('');
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

/** Whole statements: queries, what may stand around them, and texts that were bent after they had been right. */
import type { SeededRandom } from '../../soak/seeded-random.js';
import { type Draw, drawFrom } from './draw.js';
import { expression } from './expressions.js';
import type { Grammar, Scope } from './grammar.js';
import { query } from './queries.js';
import { relation } from './relations.js';
import type { Signatures } from './signatures.js';
import { foreignFunctions, foreignTables, hostileTexts, settingNames, textLiteral } from './words.js';

/** A statement with the values of its parameters, as texts. */
export interface GeneratedStatement {
  readonly sql: string;
  readonly parameters: readonly string[];
}

export function generateStatement(signatures: Signatures, random: SeededRandom): GeneratedStatement {
  const draw = drawFrom(random);
  // Many statements without any wile bind, and are deep; those with several never pass.
  const hostility = draw.pick([0, 0.02, 0.04, 0.08, 0.15, 0.3]);
  const grammar = grammarOf(draw, signatures, hostility);
  const text = grammar.query({ columns: [], commons: [], depth: draw.between(1, 5) });
  const bent = draw.chance(0.08) ? bend(draw, text) : text;
  const whole = draw.chance(0.12) ? shell(draw, bent) : bent;
  const sql = draw.chance(0.12) ? respace(draw, whole) : whole;
  return { sql, parameters: Array.from({ length: 24 }, () => draw.pick(hostileTexts)) };
}

function grammarOf(draw: Draw, signatures: Signatures, hostility: number): Grammar {
  let given = 0;
  const grammar: Grammar = {
    draw,
    signatures,
    hostility,
    parameter: draw.chance(0.15) ? draw.pick(['?', '$1', '$name']) : undefined,
    next: () => given++,
    expression: (kind, scope) => expression(grammar, kind, scope),
    query: (scope: Scope) => query(grammar, scope),
    relation: (scope) => relation(grammar, scope),
  };
  return grammar;
}

/** A statement around or instead of the query. */
function shell(draw: Draw, inner: string): string {
  const text = textLiteral(draw.pick(hostileTexts));
  const name = draw.pick(foreignTables);
  return draw.pick([
    `EXPLAIN ${inner}`,
    `EXPLAIN ANALYZE ${inner}`,
    `DESCRIBE ${inner}`,
    `SUMMARIZE ${inner}`,
    `(${inner})`,
    `${inner};`,
    `${inner}; ${inner}`,
    `SELECT 1; COPY (${inner}) TO 'vault/out.csv'`,
    `COPY (${inner}) TO ${text}`,
    `COPY orders FROM ${text}`,
    `ATTACH ${text} AS x`,
    `DETACH strongbox`,
    `USE strongbox`,
    `INSTALL httpfs`,
    `LOAD ${text}`,
    `SET ${draw.pick(settingNames)} = ${text}`,
    `RESET ${draw.pick(settingNames)}`,
    `PRAGMA ${draw.pick(settingNames)} = ${text}`,
    `PRAGMA table_info(${text})`,
    `CALL ${draw.pick(foreignFunctions)}(${text})`,
    `EXPORT DATABASE ${text}`,
    `IMPORT DATABASE ${text}`,
    `CREATE TABLE x AS ${inner}`,
    `CREATE OR REPLACE VIEW s.x AS ${inner}`,
    `CREATE TEMP MACRO m() AS TABLE ${inner}`,
    `CREATE SECRET x (TYPE s3, KEY_ID ${text})`,
    `INSERT INTO orders ${inner}`,
    `INSERT INTO ${name} ${inner}`,
    `UPDATE ${name} SET a = (${inner})`,
    `DELETE FROM ${name} WHERE EXISTS (${inner})`,
    `PREPARE p AS ${inner}`,
    `EXECUTE p(${text})`,
    `WITH x AS (DELETE FROM ${name} RETURNING *) SELECT * FROM x`,
    `WITH x AS (${inner}) INSERT INTO orders SELECT * FROM x`,
    `CHECKPOINT`,
    `VACUUM`,
    `BEGIN; ${inner}`,
    `SHOW ${draw.pick(['TABLES', 'ALL TABLES', 'DATABASES', name, `TABLES FROM ${name}`])}`,
    `SELECT * FROM (${inner}), ${text}`,
    `SELECT * FROM (${inner}) AT (VERSION => ${text})`,
    `FROM (${inner}) x SELECT x`,
    `(${inner}) UNION ALL (${inner})`,
    `PIVOT (${inner}) ON 1`,
    `SELECT (${inner})`,
    `SELECT * FROM orders FOR VERSION AS OF ${text}`,
  ]);
}

const tokenPattern = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w$]+|\s+|[^\w\s]/gu;

/** Replaces, drops, doubles or swaps a few tokens. */
function bend(draw: Draw, text: string): string {
  const tokens: string[] = text.match(tokenPattern) ?? [];
  for (let turn = draw.between(1, 3); turn > 0 && tokens.length > 2; turn--) {
    const at = draw.between(0, tokens.length - 1);
    const other = draw.between(0, tokens.length - 1);
    const token = tokens[at] ?? '';
    const replacement = draw.pick([
      '',
      `${token} ${token}`,
      tokens[other] ?? '',
      draw.pick(foreignTables),
      draw.pick(foreignFunctions),
      textLiteral(draw.pick(hostileTexts)),
      `"${token}"`,
      textLiteral(token),
    ]);
    tokens[at] = replacement;
  }
  return tokens.join('');
}

const gaps = [
  '/* a */',
  '/* /* nested */ ; */',
  '-- x\n',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '\u3000',
  '\u200b',
  '\f',
  "/* ' */",
  '-- "\n',
  ' ',
];

/** Other white space and comments between the tokens. */
function respace(draw: Draw, text: string): string {
  const tokens: readonly string[] = text.match(tokenPattern) ?? [];
  return tokens
    .map((token) => (/^\s+$/.test(token) && draw.chance(0.4) ? ` ${draw.pick(gaps)} ` : token))
    .join('');
}

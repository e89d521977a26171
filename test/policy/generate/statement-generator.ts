/**
 * Statements over `people`, made from a seed, that try to compute something on rows that a policy hides. Their answers are
 * the same however the shown rows are read, so that an answer that differs between two worlds says something of the hidden ones.
 */
import { pick, randomFrom } from '../../random.js';

/** True for all shown rows; on hidden rows of the loud world an error, or another answer. */
const tellingPredicates: readonly ((alias: string) => string)[] = [
  (p) => `${p}.ssn::INTEGER >= 0`,
  (p) => `${p}.ssn::DECIMAL(9, 2) < 1000`,
  (p) => `CAST(${p}.born AS DATE) > DATE '1900-01-01'`,
  (p) => `strptime(${p}.born, '%Y-%m-%d') IS NOT NULL`,
  (p) => `${p}.salary + 9223372036854774000 > 0`,
  (p) => `${p}.salary * 1000000000000000 > 0`,
  (p) => `-(${p}.salary) - 9223372036854774000 < 0`,
  (p) => `${p}.salary::SMALLINT > 0`,
  (p) => `sqrt(${p}.salary) > 0`,
  (p) => `ln(${p}.salary) > 0`,
  (p) => `acos(${p}.score) >= 0`,
  (p) => `regexp_matches('tag', coalesce(${p}.tag, 'x')) IS NOT NULL`,
  (p) => `json_extract(${p}.note, '$.a') IS NOT NULL`,
  (p) => `${p}.note::JSON IS NOT NULL`,
  (p) => `CASE WHEN ${p}.ssn LIKE 'secret%' THEN ${p}.ssn::BOOLEAN ELSE true END`,
  (p) => `CASE WHEN ${p}.region = 'EU' THEN true ELSE ${p}.ssn::INTEGER > 0 END`,
  (p) => `${p}.home.zip::INTEGER >= 0`,
  (p) => `${p}.marks[1] + ${p}.ssn::INTEGER >= 0`,
  (p) => `chr(${p}.salary::INTEGER) <> ''`,
  (p) => `repeat('x', ${p}.ssn::INTEGER) IS NOT NULL`,
  (p) => `make_date(2020, 1 + ${p}.k, 1) IS NOT NULL`,
  (p) => `${p}.price::DECIMAL(5, 2) >= 0`,
  (p) => `to_timestamp(${p}.salary * 1000000) IS NOT NULL`,
  (p) => `date_trunc('day', ${p}.born::TIMESTAMP) IS NOT NULL`,
  (p) => `TRY_CAST(${p}.ssn AS INTEGER) IS NOT NULL`,
  (p) => `length(${p}.ssn) < 3`,
  (p) => `list_extract(${p}.marks, 1) < 90`,
  (p) => `hash(${p}.ssn) IS NOT NULL`,
];

const plainPredicates: readonly ((alias: string) => string)[] = [
  (p) => `${p}.k = 7`,
  (p) => `${p}.k IN (1, 2, 3)`,
  (p) => `${p}.id BETWEEN 100 AND 900`,
  (p) => `${p}.salary > 150`,
  (p) => `${p}.salary < 100`,
  (p) => `${p}.tag IS NULL`,
  (p) => `${p}.tag LIKE 'tag%'`,
  (p) => `${p}.region <> 'EU'`,
  (p) => `${p}.region IS NULL`,
  (p) => `${p}.score > 1`,
  (p) => `${p}.ssn < 's'`,
  (p) => `${p}.seen < TIMESTAMP '2000-01-01'`,
];

/** Fails, or stands out, where it is computed on hidden rows. */
const tellingValues: readonly ((alias: string) => string)[] = [
  (p) => `${p}.ssn::INTEGER`,
  (p) => `${p}.home.zip::INTEGER`,
  (p) => `(${p}.salary + 9223372036854774000)`,
  (p) => `${p}.salary::SMALLINT`,
  (p) => `acos(${p}.score)`,
  (p) => `strptime(${p}.born, '%Y-%m-%d')`,
  (p) => `year(${p}.born::DATE)`,
  (p) => `(${p}.note::JSON->>'a')`,
  (p) => `CASE WHEN ${p}.id % 2 = 1 THEN ${p}.ssn::INTEGER + 1000 ELSE ${p}.k END`,
  (p) => `CASE WHEN ${p}.id % 2 = 0 THEN ${p}.k ELSE ${p}.ssn::INTEGER END`,
  (p) => `coalesce(${p}.tag, ${p}.ssn::INTEGER::VARCHAR)`,
];

interface From {
  readonly sql: string;
  readonly with: string;
  /** Aliases with all columns of `people`. */
  readonly people: readonly [string, ...string[]];
}

export function generateStatement(seed: number): string {
  return new StatementGenerator(seed).statement();
}

class StatementGenerator {
  readonly #random: () => number;
  #names = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed * 7919 + 23);
    for (let index = 0; index < 5; index++) this.#random();
  }

  statement(): string {
    const from = this.#from();
    const where = this.#where(from);
    return `${from.with}${this.#output(from, where)}`;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #pick<T>(choices: readonly T[]): T {
    return pick(choices, this.#random);
  }

  #name(prefix: string): string {
    return `${prefix}${++this.#names}`;
  }

  #people(from: From): string {
    return this.#pick(from.people);
  }

  #telling(alias: string): string {
    return this.#pick(tellingPredicates)(alias);
  }

  #predicate(alias: string): string {
    return this.#chance(0.6) ? this.#telling(alias) : this.#pick(plainPredicates)(alias);
  }

  #value(alias: string): string {
    return this.#pick(tellingValues)(alias);
  }

  #from(): From {
    const alias = this.#name('p');
    let from = this.#source(alias);
    const joins = this.#pick([0, 0, 0, 1, 1, 2]);
    for (let index = 0; index < joins; index++) from = this.#join(from);
    return from;
  }

  /** Where the rows of `people` come from: the table itself, or something that the optimiser may look through. */
  #source(alias: string): From {
    const plain = { sql: `people AS ${alias}`, with: '', people: [alias] } as const;
    const inner = this.#name('s');
    const within = (sql: string) => ({ ...plain, sql: `(${sql}) AS ${alias}` });
    return this.#pick<() => From>([
      () => plain,
      () => plain,
      () => plain,
      () => within(`SELECT * FROM people`),
      () => within(`SELECT * FROM people ${inner} WHERE ${this.#predicate(inner)}`),
      () => within(`SELECT DISTINCT * FROM people`),
      () => within(`SELECT * FROM people UNION ALL SELECT * FROM people`),
      () => within(`SELECT * FROM people INTERSECT SELECT * FROM people`),
      () => within(`SELECT * FROM people ORDER BY id LIMIT ${this.#pick([1, 20, 599, 5000])}`),
      () => within(`SELECT DISTINCT ON (k) * FROM people ORDER BY k, id`),
      () =>
        within(
          `SELECT * FROM people ${inner} QUALIFY row_number() OVER (PARTITION BY region ORDER BY id) < 9`,
        ),
      () => ({
        ...plain,
        with: `WITH ${inner} AS ${this.#pick(['', 'MATERIALIZED ', 'NOT MATERIALIZED '])}(SELECT * FROM people) `,
        sql: `${inner} AS ${alias}`,
      }),
    ])();
  }

  #join(left: From): From {
    const p = this.#people(left);
    const other = this.#name('q');
    const kind = this.#pick([
      'JOIN',
      'JOIN',
      'LEFT JOIN',
      'RIGHT JOIN',
      'FULL JOIN',
      'SEMI JOIN',
      'ANTI JOIN',
    ]);
    const keepsOther = kind !== 'SEMI JOIN' && kind !== 'ANTI JOIN';
    const numbers = (rows: number) => `range(${rows}) AS ${other}(i)`;
    const on = (sql: string, condition: string, more: readonly string[] = []): From => ({
      ...left,
      sql: `${left.sql} ${kind} ${sql} ON ${condition}`,
      people: keepsOther ? [...left.people, ...more] : left.people,
    });
    return this.#pick<() => From>([
      () => on(`(SELECT 7 AS k) AS ${other}`, `${p}.k = ${other}.k`),
      () => on(`(VALUES (1), (7), (8)) AS ${other}(k)`, `${p}.k = ${other}.k AND ${this.#predicate(p)}`),
      () => on(numbers(this.#pick([3, 50, 20000])), `${p}.ssn::INTEGER = ${other}.i`),
      () => on(numbers(4), `${p}.salary + ${other}.i > 105`),
      () => on(numbers(3), `${p}.ssn::INTEGER > ${other}.i`),
      () => on(`people AS ${other}`, `${p}.id = ${other}.id`, [other]),
      () => on(`people AS ${other}`, `${p}.ssn::INTEGER = ${other}.id`, [other]),
      () =>
        on(`people AS ${other}`, `${p}.k = ${other}.k AND ${other}.id < 20 AND ${this.#telling(other)}`, [
          other,
        ]),
      () => ({ ...left, sql: `${left.sql}, LATERAL (SELECT ${this.#value(p)} AS x) AS ${other}` }),
      () => ({
        ...left,
        sql: `${left.sql}, LATERAL (SELECT count(*) AS x FROM people z WHERE z.id = ${p}.id + 2 AND ${this.#telling('z')}) AS ${other}`,
      }),
      () => ({ ...left, sql: `${left.sql} ASOF JOIN ${numbers(5)} ON ${p}.ssn::INTEGER >= ${other}.i` }),
    ])();
  }

  #where(from: From): string {
    const count = this.#pick([0, 1, 1, 1, 2, 2, 3]);
    if (count === 0) return '';
    const parts = Array.from({ length: count }, () => {
      const p = this.#people(from);
      return this.#chance(0.2) ? this.#subquery(p) : this.#predicate(p);
    });
    const joined = parts.join(this.#pick([' AND ', ' AND ', ' AND ', ' OR ']));
    return ` WHERE ${this.#chance(0.1) ? `NOT (${joined})` : joined}`;
  }

  #subquery(p: string): string {
    const z = this.#name('z');
    return this.#pick([
      `EXISTS (SELECT 1 FROM people ${z} WHERE ${z}.k = ${p}.k AND ${this.#predicate(z)})`,
      `EXISTS (SELECT 1 FROM range(3) ${z}(i) WHERE ${z}.i = ${p}.ssn::INTEGER)`,
      `${p}.id IN (SELECT ${z}.id FROM people ${z} WHERE ${this.#predicate(z)})`,
      `${p}.id NOT IN (SELECT ${z}.k FROM people ${z} WHERE ${this.#predicate(z)})`,
      `${p}.ssn::INTEGER IN (SELECT 7)`,
      `${p}.k > (SELECT min(${this.#value(z)}::VARCHAR)::VARCHAR < 'a' FROM people ${z})::INTEGER`,
      `${p}.salary >= (SELECT min(${z}.salary) FROM people ${z} WHERE ${this.#predicate(z)})`,
      `${p}.salary >= ALL (SELECT ${z}.k FROM people ${z})`,
    ]);
  }

  #output(from: From, where: string): string {
    const p = this.#people(from);
    const value = () => this.#value(this.#people(from));
    const rest = `FROM ${from.sql}${where}`;
    return this.#pick<() => string>([
      () => `SELECT count(*) ${rest}`,
      () => `SELECT count(*) ${rest}`,
      () => `SELECT count(*), min(${p}.salary), max(${p}.ssn), min(${p}.seen) ${rest}`,
      () => `SELECT sum(${p}.ssn::INTEGER) FILTER (WHERE ${this.#predicate(p)}) ${rest}`,
      () => `SELECT count(DISTINCT ${value()}), count(${value()}) ${rest}`,
      () => `SELECT ${value()} AS x, count(*) ${rest} GROUP BY 1 ORDER BY ALL LIMIT 20`,
      () => `SELECT ${p}.k, max(${value()}) AS x ${rest} GROUP BY 1 HAVING count(*) > 0 ORDER BY ALL`,
      () => `SELECT ${value()} AS x, ${value()} AS y ${rest} ORDER BY ALL LIMIT ${this.#pick([3, 50])}`,
      () =>
        `SELECT ${p}.id, ${p}.ssn ${rest} ORDER BY ${value()}, ALL_KEYS LIMIT 5`.replace(
          'ALL_KEYS',
          `${p}.id, ${p}.ssn`,
        ),
      () => `SELECT ${p}.id, ${p}.salary ${rest} ORDER BY ${p}.salary DESC, ${p}.id LIMIT 3`,
      () => `SELECT DISTINCT ${value()} AS x ${rest} ORDER BY 1`,
      () => `SELECT sum(x) FROM (SELECT unnest([${p}.ssn::INTEGER, 1]) AS x ${rest})`,
      () =>
        `SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY ${value()} ORDER BY ${p}.id) AS r ${rest})`,
      () => `SELECT max(r) FROM (SELECT rank() OVER (ORDER BY ${value()}) AS r ${rest})`,
      () => `SELECT (SELECT max(${value()}) ${rest})`,
      () => `SELECT string_agg(${p}.ssn, ',' ORDER BY ${p}.id) ${rest}`,
      // Among equal ones the first would be picked, in whatever order they come.
      () => `SELECT arg_max(${p}.id, {'by': ${value()}, 'id': ${p}.id}) ${rest}`,
      () => `SELECT bool_and(${this.#telling(p)}) ${rest}`,
      () => `SELECT approx_count_distinct(${p}.id), any_value(${p}.region) ${rest}`,
      () => `SELECT x FROM (SELECT ${value()}::VARCHAR AS x ${rest} UNION SELECT '1') u ORDER BY ALL LIMIT 9`,
    ])();
  }
}

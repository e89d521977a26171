/** Queries over a few small tables, made from a seed, whose answers are the same however they are computed. */
import { pick, randomFrom } from '../random.js';

type Kind = 'int' | 'decimal' | 'double' | 'text' | 'date' | 'bool';

interface Column {
  readonly sql: string;
  readonly kind: Kind;
}

/** What stands in FROM. */
interface From {
  readonly sql: string;
  readonly columns: readonly Column[];
  /** Columns that together tell its rows apart; undefined when none are known to. */
  readonly key: readonly string[] | undefined;
}

export interface GeneratedQuery {
  readonly sql: string;
  /** Rows come in an order that leaves nothing open. */
  readonly isOrdered: boolean;
}

const tableColumns: readonly (readonly [name: string, kind: Kind])[] = [
  ['id', 'int'],
  ['k', 'int'],
  ['v', 'int'],
  ['d', 'decimal'],
  ['f', 'double'],
  ['s', 'text'],
  ['t', 'date'],
  ['b', 'bool'],
];

export const generatedTables: readonly string[] = ['a', 'b', 'c', 'e'];

/** Few values, so that they meet; NULLs in all columns but `id`; `e` is empty. Floats are exact in sums. */
export const generatedTableStatements: readonly string[] = [
  ['a', 40],
  ['b', 24],
  ['c', 9],
  ['e', 0],
].map(([name, rows], index) => {
  const value = (salt: number, count: number) => `(hash(i * 100 + ${salt} + ${index * 7919}) % ${count})`;
  const sparse = (salt: number, sql: string) =>
    `CASE WHEN ${value(salt + 50, 6)} = 0 THEN NULL ELSE ${sql} END`;
  return `CREATE TABLE ${name} AS SELECT i::INTEGER id, (${sparse(1, value(1, 9))})::INTEGER k,
    (${sparse(2, `${value(2, 200)}::BIGINT - 100`)})::BIGINT v,
    (${sparse(3, `(${value(3, 2000)}::BIGINT - 1000) / 100`)})::DECIMAL(9,2) d,
    (${sparse(4, `(${value(4, 80)}::BIGINT - 40) / 4`)})::DOUBLE f,
    ${sparse(5, `['ant', 'bee', 'Cat', 'cat', '', 'a_b%c'][1 + ${value(5, 6)}::BIGINT]`)} s,
    (${sparse(6, `DATE '2020-01-28' + ${value(6, 40)}::INTEGER`)})::DATE t, ${sparse(7, `${value(7, 2)} = 0`)} b
    FROM range(${rows}) r(i)`;
});

export function generateQuery(seed: number): GeneratedQuery {
  return new Generator(seed).statement();
}

class Generator {
  readonly #random: () => number;
  #names = 0;
  /** Common table expressions in scope, with their columns. */
  #ctes: { readonly name: string; readonly kinds: readonly Kind[] }[] = [];

  constructor(seed: number) {
    this.#random = randomFrom(seed * 7919 + 17);
    for (let index = 0; index < 5; index++) this.#random();
  }

  statement(): GeneratedQuery {
    let prefix = '';
    if (this.#chance(0.2)) {
      const kinds = this.#kinds(1 + this.#below(3));
      const sql = this.#query(kinds, 1);
      const name = this.#name('w');
      prefix = `WITH ${name}(${kinds.map((_kind, index) => `c${index}`).join(', ')}) AS ${this.#chance(0.5) ? 'MATERIALIZED ' : ''}(${sql}) `;
      this.#ctes = [{ name, kinds }];
    }
    const kinds = this.#kinds(1 + this.#below(4));
    const body = this.#chance(0.25) ? this.#setOperation(kinds, 2) : this.#query(kinds, 2);
    const isExact = !/avg|stddev|var_pop|median|quantile/.test(body + prefix);
    if (isExact && this.#chance(0.4)) {
      const orders = kinds.map((_kind, index) => `${index + 1}${this.#direction()}`);
      const limit = this.#chance(0.6)
        ? ` LIMIT ${this.#below(12)}${this.#chance(0.4) ? ` OFFSET ${this.#below(6)}` : ''}`
        : '';
      return {
        sql: `${prefix}SELECT * FROM (${body}) q ORDER BY ${orders.join(', ')}${limit}`,
        isOrdered: true,
      };
    }
    return { sql: prefix + body, isOrdered: false };
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
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

  #kinds(count: number): readonly Kind[] {
    return Array.from({ length: count }, () =>
      this.#pick<Kind>(['int', 'int', 'decimal', 'double', 'text', 'date', 'bool']),
    );
  }

  #direction(): string {
    return this.#pick(['', ' DESC', ' ASC NULLS FIRST', ' DESC NULLS LAST']);
  }

  #setOperation(kinds: readonly Kind[], depth: number): string {
    const word = this.#pick([
      'UNION ALL',
      'UNION ALL',
      'UNION',
      'INTERSECT',
      'EXCEPT',
      'INTERSECT ALL',
      'EXCEPT ALL',
    ]);
    return `(${this.#query(kinds, depth - 1)}) ${word} (${this.#query(kinds, depth - 1)})`;
  }

  /** A SELECT of columns of these kinds. */
  #query(kinds: readonly Kind[], depth: number, outer?: From): string {
    if (depth > 0 && this.#chance(0.08)) return this.#setOperation(kinds, depth);
    if (depth > 0 && outer === undefined && this.#chance(0.05)) {
      const name = this.#name('n');
      const columns = kinds.map((_kind, index) => `c${index}`).join(', ');
      const definition = `WITH ${name}(${columns}) AS MATERIALIZED (${this.#query(kinds, depth - 1)})`;
      return `${definition} SELECT ${columns} FROM ${name} ${this.#pick(['UNION ALL', 'EXCEPT', 'INTERSECT ALL'])} SELECT ${columns} FROM ${name}`;
    }
    const from = this.#from(depth);
    const where = this.#chance(0.6) ? ` WHERE ${this.#condition(from, depth, outer)}` : '';
    const choice = this.#random();
    if (choice < 0.45) return this.#aggregation(kinds, from, where);
    if (choice < 0.6 && outer === undefined) {
      const windows = this.#windowed(kinds, from, where);
      if (windows !== undefined) return windows;
    }
    const list = kinds.map((kind) => this.#value(kind, from, 1));
    const distinct = this.#chance(0.2) ? 'DISTINCT ' : '';
    const sql = `SELECT ${distinct}${list.join(', ')} FROM ${from.sql}${where}`;
    // A limit is only the same everywhere behind an order of all columns.
    if (distinct === '' && this.#chance(0.1))
      return `SELECT * FROM (${sql} ORDER BY ALL LIMIT ${1 + this.#below(20)}) l`;
    return sql;
  }

  #aggregation(kinds: readonly Kind[], from: From, where: string): string {
    const groupCount = this.#chance(0.75) ? 1 + this.#below(2) : 0;
    const groups = Array.from({ length: groupCount }, () => {
      const kind = this.#pick<Kind>(['int', 'text', 'bool', 'date']);
      return { kind, sql: this.#value(kind, from, 1) };
    });
    const unused = [...groups];
    const list = kinds.map((kind) => {
      const index = unused.findIndex((group) => group.kind === kind);
      const [group] = index >= 0 && this.#chance(0.7) ? unused.splice(index, 1) : [];
      return group?.sql ?? this.#aggregate(kind, from);
    });
    const having =
      groupCount > 0 && this.#chance(0.2)
        ? ` HAVING ${this.#aggregate('int', from)} ${this.#comparison()} ${this.#below(20)}`
        : '';
    const keys = groups.map(({ sql }) => sql);
    const by =
      groupCount === 0
        ? ''
        : ` GROUP BY ${this.#chance(0.15) ? `${this.#pick(['ROLLUP', 'CUBE'])} (${keys.join(', ')})` : keys.join(', ')}`;
    return `SELECT ${list.join(', ')} FROM ${from.sql}${where}${by}${having}`;
  }

  #windowed(kinds: readonly Kind[], from: From, where: string): string | undefined {
    const { key } = from;
    const over = (order: string) =>
      `OVER (${this.#chance(0.6) ? `PARTITION BY ${this.#value(this.#pick<Kind>(['int', 'text', 'bool']), from, 0)}` : ''}${order})`;
    const total =
      key === undefined
        ? undefined
        : ` ORDER BY ${this.#value('int', from, 0)}${this.#direction()}, ${key.join(', ')}`;
    const list = kinds.map((kind) => {
      const value = this.#value(kind, from, 0);
      if (this.#chance(0.4)) return value;
      const peers = this.#chance(0.5) ? ` ORDER BY ${this.#value('int', from, 0)}${this.#direction()}` : '';
      if (kind === 'int' && total !== undefined && this.#chance(0.4))
        return this.#pick([
          `row_number() ${over(total)}`,
          `ntile(3) ${over(total)}`,
          `sum(${value}) ${over(`${total} ROWS BETWEEN ${1 + this.#below(3)} PRECEDING AND ${this.#pick(['CURRENT ROW', '1 FOLLOWING', 'UNBOUNDED FOLLOWING'])}${this.#pick(['', ' EXCLUDE CURRENT ROW', ' EXCLUDE TIES'])}`)}`,
        ]);
      if (total !== undefined && this.#chance(0.4))
        return this.#pick([
          `lag(${value}, ${this.#below(3)}) ${over(total)}`,
          `lead(${value}) ${over(total)}`,
          `first_value(${value}${this.#pick(['', ' IGNORE NULLS'])}) ${over(total)}`,
          `nth_value(${value}, 2) ${over(total)}`,
        ]);
      if (kind === 'int')
        return this.#pick([
          `rank() ${over(peers || ' ORDER BY 1')}`,
          `dense_rank() ${over(` ORDER BY ${value}`)}`,
          `count(*) ${over(peers)}`,
          `sum(${value}) ${over(peers)}`,
          `count(${value}) FILTER (WHERE ${this.#value('bool', from, 0)}) ${over(peers)}`,
        ]);
      return `${this.#pick(['min', 'max'])}(${value}) ${over(peers)}`;
    });
    return `SELECT ${list.join(', ')} FROM ${from.sql}${where}`;
  }

  #aggregate(kind: Kind, from: From): string {
    const filter = this.#chance(0.2) ? ` FILTER (WHERE ${this.#simpleCondition(from)})` : '';
    const value = this.#value(kind, from, 1);
    const extreme = `${this.#pick(['min', 'max'])}(${value})${filter}`;
    const { key } = from;
    const by =
      key === undefined ? undefined : `(${key.map((each) => `coalesce(${each}, -1) `).join('* 1000 + ')})`;
    if (by !== undefined && key?.length === 1 && this.#chance(0.1))
      return `${this.#pick(['arg_min', 'arg_max'])}(${value}, ${by})${filter}`;
    const any = this.#value(this.#pick<Kind>(['int', 'decimal', 'text', 'date', 'double', 'bool']), from, 1);
    switch (kind) {
      case 'int':
        return this.#pick([
          `count(*)${filter}`,
          `count(${any})${filter}`,
          `count(DISTINCT ${any})${filter}`,
          `sum(${value})${filter}`,
          `sum(DISTINCT ${value})${filter}`,
          `bit_xor(${value})${filter}`,
          extreme,
        ]);
      case 'decimal':
        return this.#pick([`sum(${value})${filter}`, `sum(DISTINCT ${value})${filter}`, extreme]);
      case 'double':
        return this.#pick([
          `avg(${this.#value(this.#pick<Kind>(['int', 'decimal', 'double']), from, 1)})${filter}`,
          `avg(DISTINCT ${value})${filter}`,
          `sum(${value})${filter}`,
          `stddev_samp(${value})${filter}`,
          `var_pop(${this.#value('int', from, 0)})${filter}`,
          `median(${value})${filter}`,
          `quantile_cont(${value}, 0.3)${filter}`,
          extreme,
        ]);
      case 'text':
        return this.#pick([
          extreme,
          extreme,
          `string_agg(${value}, '+' ORDER BY ${value})${filter}`,
          `list(${value} ORDER BY ${value})::VARCHAR`,
        ]);
      case 'bool':
        return this.#pick([`${this.#pick(['bool_and', 'bool_or'])}(${value})${filter}`, extreme]);
      case 'date':
        return extreme;
    }
  }

  #from(depth: number): From {
    let from = this.#relation(depth);
    const joins = this.#pick([0, 0, 1, 1, 1, 2]);
    for (let index = 0; index < joins; index++) from = this.#join(from, this.#relation(depth));
    return from;
  }

  #relation(depth: number): From {
    const alias = this.#name('r');
    const [cte] = this.#ctes;
    if (cte !== undefined && this.#chance(0.4))
      return {
        sql: `${cte.name} AS ${alias}`,
        columns: cte.kinds.map((kind, index) => ({ kind, sql: `${alias}.c${index}` })),
        key: undefined,
      };
    if (depth > 0 && this.#chance(0.25)) {
      const kinds = this.#kinds(2 + this.#below(2));
      const names = kinds.map((_kind, index) => `c${index}`);
      return {
        sql: `(${this.#query(kinds, depth - 1)}) AS ${alias}(${names.join(', ')})`,
        columns: kinds.map((kind, index) => ({ kind, sql: `${alias}.c${index}` })),
        key: undefined,
      };
    }
    const table = this.#pick(['a', 'a', 'a', 'b', 'b', 'c', 'c', 'e']);
    return {
      sql: `${table} AS ${alias}`,
      columns: tableColumns.map(([name, kind]) => ({ kind, sql: `${alias}.${name}` })),
      key: [`${alias}.id`],
    };
  }

  #join(left: From, right: From): From {
    const type = this.#pick([
      'JOIN',
      'JOIN',
      'LEFT JOIN',
      'LEFT JOIN',
      'RIGHT JOIN',
      'FULL JOIN',
      'SEMI JOIN',
      'ANTI JOIN',
      'CROSS JOIN',
    ]);
    const kinds = left.columns.filter(({ kind }) => right.columns.some((other) => other.kind === kind));
    const key = left.key && right.key && [...left.key, ...right.key];
    const both = { columns: [...left.columns, ...right.columns], key };
    const shared = kinds.filter(({ kind }) => kind !== 'bool' || this.#chance(0.3));
    if (type === 'CROSS JOIN' || shared.length === 0)
      return { sql: `${left.sql} CROSS JOIN ${right.sql}`, ...both };
    const column = this.#pick(shared);
    const other = this.#pick(right.columns.filter(({ kind }) => kind === column.kind));
    const conditions = [
      `${column.sql} ${this.#pick(['=', '=', '=', '=', 'IS NOT DISTINCT FROM', '<', '<>'])} ${other.sql}`,
    ];
    if (this.#chance(0.3)) conditions.push(this.#simpleCondition(this.#chance(0.5) ? right : left));
    if (this.#chance(0.2)) {
      const more = this.#pick(shared);
      const another = this.#pick(right.columns.filter(({ kind }) => kind === more.kind));
      conditions.push(`${more.sql} ${this.#comparison()} ${another.sql}`);
    }
    const sql = `${left.sql} ${type} ${right.sql} ON ${conditions.join(this.#chance(0.9) ? ' AND ' : ' OR ')}`;
    return type === 'SEMI JOIN' || type === 'ANTI JOIN' ? { ...left, sql } : { sql, ...both };
  }

  #comparison(): string {
    return this.#pick(['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM']);
  }

  #condition(from: From, depth: number, outer?: From): string {
    const parts = [this.#onePredicate(from, depth, outer)];
    if (this.#chance(0.3)) parts.push(this.#onePredicate(from, depth, outer));
    const joined = parts.join(this.#pick([' AND ', ' AND ', ' OR ']));
    const correlated = outer && this.#correlation(from, outer);
    const all =
      correlated === undefined ? joined : this.#chance(0.5) ? correlated : `(${joined}) AND ${correlated}`;
    return this.#chance(0.1) ? `NOT (${all})` : all;
  }

  #correlation(from: From, outer: From): string | undefined {
    const column = this.#pick(from.columns);
    const others = outer.columns.filter(({ kind }) => kind === column.kind);
    return others.length === 0
      ? undefined
      : `${column.sql} ${this.#pick(['=', '=', '=', '<', '<>'])} ${this.#pick(others).sql}`;
  }

  #onePredicate(from: From, depth: number, outer?: From): string {
    if (depth <= 0 || this.#chance(0.65)) return this.#simpleCondition(from);
    const kind = this.#pick<Kind>(['int', 'int', 'text', 'decimal', 'date']);
    const value = this.#value(kind, from, 0);
    const correlated = outer === undefined && this.#chance(0.5) ? from : undefined;
    const inner = () => this.#query([kind], depth - 2, correlated);
    switch (this.#below(6)) {
      case 0:
        return `${value} IN (${inner()})`;
      case 1:
        return `${value} NOT IN (${inner()})`;
      case 2:
        return `${this.#pick(['', 'NOT '])}EXISTS (${inner()})`;
      case 3:
        return `${value} ${this.#pick(['<', '>', '=', '<>'])} ${this.#pick(['ANY', 'ALL'])} (${inner()})`;
      case 4:
        return `coalesce(${value} ${this.#pick(['IN', 'NOT IN'])} (${inner()}), ${this.#pick(['true', 'false'])})`;
      default: {
        const source = this.#from(0);
        const where = correlated && this.#correlation(source, correlated);
        const max = `${this.#pick(['min', 'max'])}(${this.#value(kind, source, 0)})`;
        return `${value} ${this.#comparison()} (SELECT ${max} FROM ${source.sql}${where === undefined ? '' : ` WHERE ${where}`})`;
      }
    }
  }

  #simpleCondition(from: From): string {
    const kind = this.#pick<Kind>(['int', 'int', 'text', 'decimal', 'date', 'double', 'bool']);
    const value = this.#value(kind, from, 1);
    switch (this.#below(6)) {
      case 0:
        return `${value} IS ${this.#pick(['', 'NOT '])}NULL`;
      case 1:
        return `${value} ${this.#pick(['IN', 'NOT IN'])} (${this.#constant(kind)}, ${this.#constant(kind)}${this.#chance(0.1) ? ', NULL' : ''})`;
      case 2:
        return `${value} BETWEEN ${this.#constant(kind)} AND ${this.#constant(kind)}`;
      case 3:
        return kind === 'text'
          ? `${value} ${this.#pick(['LIKE', 'NOT LIKE', 'ILIKE'])} ${this.#pick(["'a%'", "'%a%'", "'_a_'", "'%t'"])}`
          : `${value} ${this.#comparison()} ${this.#value(kind, from, 1)}`;
      default:
        return `${value} ${this.#comparison()} ${this.#constant(kind)}`;
    }
  }

  #constant(kind: Kind): string {
    switch (kind) {
      case 'int':
        return `(${this.#below(40) - 10})`;
      case 'decimal':
        return `${this.#below(20) - 10}.${this.#below(10)}5`;
      case 'double':
        return `(${this.#below(40) - 20} / 4)`;
      case 'text':
        return this.#pick(["'ant'", "'bee'", "'cat'", "''", "'b'"]);
      case 'date':
        return `DATE '2020-02-${10 + this.#below(18)}'`;
      case 'bool':
        return this.#pick(['true', 'false']);
    }
  }

  #value(kind: Kind, from: From, depth: number): string {
    const columns = from.columns.filter((column) => column.kind === kind);
    if (columns.length > 0 && (depth <= 0 || this.#chance(0.65))) return this.#pick(columns).sql;
    if (depth <= 0) return columns.length > 0 ? this.#pick(columns).sql : this.#typed(kind);
    const value = (other: Kind) => this.#value(other, from, depth - 1);
    const shared = [
      `coalesce(${value(kind)}, ${this.#typed(kind)})`,
      `CASE WHEN ${value('bool')} THEN ${value(kind)} ELSE ${this.#typed(kind)} END`,
      `nullif(${value(kind)}, ${this.#typed(kind)})`,
    ];
    switch (kind) {
      case 'int':
        return this.#pick([
          ...shared,
          `(${value('int')} + 3)`,
          `(${value('int')} % 5)`,
          `(${value('int')} // 3)`,
          `abs(${value('int')})`,
          `length(${value('text')})`,
          `month(${value('date')})`,
          `greatest(${value('int')}, 5)`,
        ]);
      case 'decimal':
        return this.#pick([
          ...shared,
          `(${value('decimal')} + 1.25)`,
          `(${value('decimal')} * 2.5)`,
          `(${value('decimal')} - ${value('decimal')})`,
          `round(${value('decimal')}, 1)`,
          `(-(${value('decimal')})::DECIMAL(9,2))`,
        ]);
      case 'double':
        return this.#pick([
          ...shared,
          `(${value('double')} * 2)`,
          `(${value('double')} + 0.5)`,
          `${value('int')}::DOUBLE`,
        ]);
      case 'text':
        return this.#pick([
          ...shared,
          `(${value('text')} || 'x')`,
          `upper(${value('text')})`,
          `substring(${value('text')}, 1, 2)`,
          `${value('int')}::VARCHAR`,
          `concat(${value('text')}, '-', ${value('text')})`,
        ]);
      case 'date':
        return this.#pick([
          ...shared,
          `(${value('date')} + 3)`,
          `date_trunc('month', ${value('date')})::DATE`,
          `(${value('date')} + INTERVAL 1 MONTH)::DATE`,
        ]);
      case 'bool':
        return this.#pick([
          ...shared,
          `(${value('int')} > 3)`,
          `(${value('text')} IS NULL)`,
          `(NOT ${value('bool')})`,
        ]);
    }
  }

  #typed(kind: Kind): string {
    switch (kind) {
      case 'int':
        return `${this.#constant(kind)}::BIGINT`;
      case 'decimal':
        return `${this.#constant(kind)}::DECIMAL(9,2)`;
      case 'double':
        return `${this.#constant(kind)}::DOUBLE`;
      default:
        return this.#constant(kind);
    }
  }
}

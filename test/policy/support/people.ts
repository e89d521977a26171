/**
 * The tables of the proof, in two worlds. What `analyst` may see is the same in both; what is hidden from him differs in
 * everything: how many rows, where they lie, their values, NULLs and lengths. So whatever tells the worlds apart is a leak.
 *
 * In `quiet` the hidden values look like the others. In `loud` nearly every computation over them fails, or stands out.
 */
export type World = 'quiet' | 'loud';
export const worlds: readonly World[] = ['quiet', 'loud'];

const shownRows = 600;

/** Rows with even ids are there to be seen; `region` says the same, so that policies of any form may hide the others. */
export const shownPeople = `SELECT (2 * i)::BIGINT AS id, 'EU' AS region, (i % 10)::INTEGER AS k, (i % 50)::VARCHAR AS ssn,
  (100 + i % 900)::BIGINT AS salary, '{"a": ' || i % 7 || '}' AS note, (i % 100) / 100.0::DOUBLE AS score,
  (DATE '2020-01-01' + (i % 365)::INTEGER)::VARCHAR AS born, (i % 9999 / 100)::DECIMAL(9, 2) AS price,
  CASE WHEN i % 6 = 0 THEN NULL ELSE 'tag' || i % 5 END AS tag, TIMESTAMP '2024-01-01' + to_hours(i % 500) AS seen,
  [i % 3, i % 5]::INTEGER[] AS marks, {'city': 'city' || i % 4, 'zip': (i % 100)::VARCHAR} AS home
  FROM range(${shownRows}) r(i)`;

const columnNames = 'id, region, k, ssn, salary, note, score, born, price, tag, seen, marks, home';

const hidden: Readonly<Record<World, string>> = {
  quiet: `SELECT (2 * i + 1)::BIGINT, 'US', (i % 10)::INTEGER, (i % 50)::VARCHAR, (100 + i % 900)::BIGINT, '{"a": 1}',
    (i % 100) / 100.0::DOUBLE, '2020-06-01', (i % 9999 / 100)::DECIMAL(9, 2), 'tag' || i % 5, TIMESTAMP '2024-01-02',
    [1, 2]::INTEGER[], {'city': 'city1', 'zip': '10'} FROM range(40) r(i)`,
  loud: `SELECT (2 * i + 1)::BIGINT, CASE WHEN i % 11 = 0 THEN NULL ELSE 'US' || i % 3 END, CASE WHEN i % 3 = 0 THEN NULL ELSE (i % 4000)::INTEGER END,
    'secret-' || i, CASE WHEN i % 2 = 0 THEN 9223372036854775807 - i ELSE i - 9223372036854775807 END, '{broken ' || i,
    7.5 + i, 'never-' || i, (9999999 - i)::DECIMAL(9, 2), 'hidden(' || i || repeat('x', i % 300), TIMESTAMP '1970-01-01' - to_days(i % 9000),
    CASE WHEN i % 4 = 0 THEN NULL WHEN i % 4 = 1 THEN [] ELSE [99, 98, NULL, 97] END, {'city': 'secret city ' || i, 'zip': 'not a number ' || i} FROM range(3000) r(i)`,
};

/** All rows of `people`, in the order of their ids. */
export function peopleOf(world: World): string {
  return `SELECT * FROM (${shownPeople} UNION ALL ${hidden[world]}) ORDER BY id`;
}

/** What the last commit adds: one row that is shown, and in the loud world a crowd that is not. */
export function hiddenPeopleOf(world: World): string {
  const one = `SELECT * REPLACE (100000::BIGINT AS id) FROM (${shownPeople}) WHERE id = 14`;
  return world === 'quiet' ? one : `${one} UNION ALL SELECT * FROM (${hidden.loud})`;
}

/** In the loud world a commit of its own. */
export const unseenPeople = `SELECT * FROM (${hidden.loud}) LIMIT 100`;

/** The first snapshot: in the loud world with hidden rows that the current one has not, and never had. */
export function formerPeopleOf(world: World): string {
  const hiddenRows = `SELECT * REPLACE (id + 50000 AS id) FROM (${hidden.loud}) h(${columnNames})`;
  return world === 'quiet' ? shownPeople : `${shownPeople} UNION ALL ${hiddenRows}`;
}

const secretOf: Readonly<Record<World, { readonly text: string; readonly number: string }>> = {
  quiet: { text: "'1'", number: 'i % 10' },
  loud: { text: "'secret-' || i || repeat('y', i % 200)", number: '(i * 7919) % 999983 - 500000' },
};

/**
 * All rows of `staff` are shown; `email`, `pay`, `phone` and `grade` are masked, and behind the masks all values differ.
 * What the masks let through (first letters, and NULL for NULL) is equal.
 */
export function staffOf(world: World): string {
  const { text, number } = secretOf[world];
  return `SELECT i::BIGINT AS id, 'name' || i AS name, chr(97 + (i % 26)::INTEGER) || ${text} AS email, (${number})::BIGINT AS pay,
    CASE WHEN i % 4 = 0 THEN NULL ELSE ${text} END AS phone, (${number})::INTEGER AS grade, (i % 12)::INTEGER AS team,
    [${text}]::VARCHAR[] AS badges FROM range(400) r(i)`;
}

/** Who may see which region: read by policies, and by everybody. */
export const mappingRows = `SELECT * FROM (VALUES ('analyst', 'EU'), ('somebody', 'US'), ('somebody', NULL)) v(username, region)`;

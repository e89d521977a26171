import { Int64, Utf8 } from 'apache-arrow';
import { type Attack, attack, callAttack, preparedAttack } from '../support/attack.js';

/** Times, versions, names, parameters and sessions: other ways to the same table. */
export const travelAttacks: readonly Attack[] = [
  attack(
    'A snapshot whose hidden rows nobody was ever shown',
    'SELECT count(*), max(ssn), max(salary) FROM people FOR VERSION AS OF {{first}}',
  ),
  attack('The snapshot before the last', 'SELECT count(*), max(id) FROM people FOR VERSION AS OF {{second}}'),
  attack(
    'A cast over an old snapshot',
    'SELECT count(*) FROM people FOR VERSION AS OF {{first}} WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'The known leak over an old snapshot',
    'SELECT count(*) FROM people FOR VERSION AS OF {{first}} AS v JOIN (SELECT 7 AS k) r ON v.k = r.k WHERE v.ssn::INTEGER >= 0',
  ),
  attack(
    'A snapshot by its time',
    "SELECT count(*), max(ssn) FROM people FOR TIMESTAMP AS OF TIMESTAMPTZ '{{before}}'",
  ),
  attack(
    'A snapshot by the name of its branch',
    "SELECT count(*), max(salary) FROM people FOR VERSION AS OF 'main'",
  ),
  attack(
    'What was added between two snapshots',
    'SELECT count(*) FROM people n ANTI JOIN people FOR VERSION AS OF {{first}} AS o ON o.id = n.id',
  ),
  attack(
    'What was there and is no more',
    'SELECT id FROM people FOR VERSION AS OF {{first}} EXCEPT SELECT id FROM people',
  ),
  attack(
    'Another snapshot beside the current one',
    'SELECT count(*) FROM people a, people FOR VERSION AS OF {{second}} AS b WHERE a.id = b.id AND b.ssn::INTEGER >= 0',
  ),
  attack("The engine's own way to say it", 'SELECT count(*), max(ssn) FROM people AT (VERSION => {{first}})'),
  attack(
    'EXPLAIN of an old snapshot',
    'EXPLAIN SELECT count(*) FROM people FOR VERSION AS OF {{first}} WHERE salary > 5000',
  ),
  attack('A snapshot that does not exist', 'SELECT * FROM people FOR VERSION AS OF 1'),
  attack('A branch that does not exist', "SELECT * FROM people FOR VERSION AS OF 'nothing'"),
  attack(
    'The files of a snapshot that does not exist',
    'SELECT * FROM "people$files" FOR VERSION AS OF 1',
    `SELECT * FROM "people$files" FOR TIMESTAMP AS OF TIMESTAMPTZ '2001-01-01 00:00:00+00'`,
    'SELECT * FROM "people$everything"',
  ),
  attack('A snapshot that a table with masks does not have', 'SELECT id FROM staff FOR VERSION AS OF 1'),
  attack(
    'A time before the table: when was it made?',
    "SELECT count(*) FROM people FOR TIMESTAMP AS OF TIMESTAMPTZ '2001-01-01 00:00:00+00'",
  ),
  attack(
    'Masked columns of an old snapshot',
    "SELECT count(*) FROM staff FOR VERSION AS OF 'main' WHERE email LIKE '%secret%'",
  ),
  attack('A view over the table', 'SELECT count(*), max(ssn) FROM people_view'),
  attack('A failing condition over a view', 'SELECT count(*) FROM people_view WHERE ssn::INTEGER >= 0'),
  attack(
    'The known leak through a view, whose own condition is pushed too',
    'SELECT count(*) FROM people_view v JOIN (SELECT 7 AS k) r USING (k) WHERE v.ssn::INTEGER >= 0',
  ),
  attack(
    'A view of his own over the table',
    'CREATE VIEW mine AS SELECT * FROM people',
    'SELECT count(*), max(ssn) FROM mine WHERE ssn::INTEGER >= 0',
    'DROP VIEW mine',
  ),
  attack(
    'A view of his own over masks',
    'CREATE VIEW mine AS SELECT email FROM staff',
    "SELECT count(*) FROM mine WHERE email LIKE '%secret%'",
    'DROP VIEW mine',
  ),
  attack(
    'A view that fails over hidden values',
    'CREATE VIEW mine AS SELECT ssn::INTEGER AS s FROM people',
    'SELECT sum(s) FROM mine',
    'DROP VIEW mine',
  ),
  attack('A name of another case', 'SELECT count(*) FROM PEOPLE WHERE SSN::INTEGER >= 0'),
  attack(
    'A name in quotes, with its schema and catalog',
    'SELECT count(*) FROM "lake"."MODULO"."People" WHERE ssn::INTEGER >= 0',
  ),
  attack('An alias like another table', 'SELECT count(*) FROM people open WHERE open.ssn::INTEGER >= 0'),
  attack(
    'Column aliases that swap names',
    'SELECT count(*) FROM people AS p(id, region, k, salary, ssn) WHERE p.salary::INTEGER >= 0',
  ),
  attack('Another user by name', 'SELECT current_user, user, session_user'),
  attack(
    'A column named as the user',
    "SELECT count(*) FROM (SELECT 'EU' AS region, * EXCLUDE (region) FROM people) people WHERE ssn::INTEGER >= 0",
  ),
  attack('A macro in the place of a function of the policy', "CREATE MACRO lower(x) AS 'eu'"),
  attack('A function of the policy as a list', 'WITH lower AS (SELECT 1) SELECT count(*) FROM people, lower'),
  attack(
    'The mapping table as a list of another content',
    "WITH mapping AS (SELECT 'analyst' AS username, 'US' AS region) SELECT count(*) FROM people",
  ),
  attack('Another schema of the same names first', 'USE lake.shared', 'SELECT count(*) FROM people'),
  attack('has_role in a statement', "SELECT has_role('admin')"),
  attack('A setting of the engine that turns optimisers off', "SET disabled_optimizers = 'filter_pushdown'"),
  attack(
    'A setting that changes how errors are said',
    'SET errors_as_json = true',
    'SELECT ssn::INTEGER FROM people',
  ),
  attack('Profiling of the engine', "PRAGMA enable_profiling = 'json'"),
  attack(
    'A time zone, by which texts are cast',
    "SET TimeZone = 'Asia/Kolkata'",
    "SELECT count(*) FROM people WHERE born::TIMESTAMPTZ > TIMESTAMPTZ '1999-01-01 00:00:00+00'",
  ),
  preparedAttack('A parameter compared with a cast', 'SELECT count(*) FROM people WHERE ssn::INTEGER >= $1', [
    new Int64(),
    0n,
  ]),
  preparedAttack(
    'A parameter of another type than the column',
    'SELECT count(*) FROM people WHERE ssn = $1',
    [new Int64(), 7n],
  ),
  preparedAttack('A hidden value as a parameter', 'SELECT count(*) FROM people WHERE ssn = $1', [
    new Utf8(),
    'secret-17',
  ]),
  preparedAttack('A parameter as a limit', 'SELECT id FROM people ORDER BY salary DESC, id LIMIT $1', [
    new Int64(),
    5n,
  ]),
  preparedAttack('A parameter that is a pattern', 'SELECT count(*) FROM staff WHERE email LIKE $1', [
    new Utf8(),
    '%secret%',
  ]),
  preparedAttack(
    'A parameter that is the error',
    'SELECT count(*) FROM people WHERE CASE WHEN id % 2 = 1 THEN ($1 || ssn)::BOOLEAN ELSE true END',
    [new Utf8(), 'found'],
  ),
  preparedAttack('Only prepared: what is told of its result', 'SELECT * FROM people WHERE ssn::INTEGER > 5'),
  preparedAttack('Prepared over masks', 'SELECT email, pay, grade FROM staff WHERE pay > $1 ORDER BY ALL', [
    new Int64(),
    5n,
  ]),
  callAttack('A ticket from before the policies changed', {
    kind: 'kept-ticket',
    sql: 'SELECT count(*), max(ssn) FROM people',
  }),
  callAttack('A ticket over masks from before the policies changed', {
    kind: 'kept-ticket',
    sql: 'SELECT max(email), max(pay) FROM staff',
  }),
  callAttack(
    'An engine that was warm before the policies changed',
    { kind: 'statement', sql: 'SELECT count(*) FROM people WHERE k = 7' },
    { kind: 'kept-ticket', sql: 'SELECT 1' },
    { kind: 'statement', sql: 'SELECT count(*) FROM people WHERE k = 7' },
  ),
  attack(
    'The same text twice: what is kept of the first plan?',
    'SELECT count(*) FROM people WHERE salary > 300',
    'SELECT count(*) FROM people WHERE salary > 300',
  ),
  attack(
    'The same after a failure',
    'SELECT max(nothing::INTEGER) FROM people',
    'SELECT count(*) FROM people WHERE k = 7',
  ),
];

import { Int64 } from 'apache-arrow';
import { type Attack, attack, callAttack, preparedAttack } from '../support/attack.js';

/** Policies on a schema, and views over what lies in it (`support/shared-tables.ts`). */
export const sealedAttacks: readonly Attack[] = [
  attack('A table of a schema with policies', 'SELECT count(*), max(ssn), max(salary) FROM sealed.people'),
  attack('All its columns', 'SELECT * FROM sealed.people ORDER BY id LIMIT 20'),
  attack('A cast behind the mask of a schema', 'SELECT count(*) FROM sealed.people WHERE ssn::INTEGER >= 0'),
  attack('Another table of it', 'SELECT count(*), min(ssn), max(salary) FROM sealed.ledger'),
  attack(
    'Two tables of it, joined on what one of them hides',
    'SELECT count(*) FROM sealed.people p JOIN sealed.ledger l ON p.salary = l.salary WHERE l.salary::SMALLINT > 0',
  ),
  attack('A table without the columns that its policies name', 'SELECT * FROM sealed.bare'),
  attack('A view in the schema, which has the policies too', 'SELECT count(*), max(ssn) FROM sealed.direct'),
  attack('A cast over it', 'SELECT count(*) FROM sealed.direct WHERE ssn::INTEGER >= 0 AND k = 7'),
  attack('A view in the schema without the columns of its policies', 'SELECT * FROM sealed.narrow'),
  attack('What the schema says of itself', 'SHOW POLICIES ON SCHEMA sealed', 'SHOW TABLES IN sealed'),
  attack('Metadata of a table in the schema', 'SELECT * FROM sealed."people$files"'),
  attack('A table of his own in the schema', 'CREATE TABLE sealed.mine AS SELECT * FROM sealed.people'),
  attack("A reader's view over the schema", 'SELECT count(*), max(ssn), max(salary) FROM shared.invoked'),
  attack(
    "A cast over a reader's view",
    'SELECT count(*) FROM shared.invoked v JOIN (SELECT 14 AS id) r USING (id) WHERE v.salary::SMALLINT > 0',
  ),
  attack(
    "A definer's view shows what it shows",
    'SELECT count(*), max(ssn), max(salary) FROM shared.defined',
  ),
  attack(
    "A cast over rows that a definer's view leaves out",
    'SELECT count(*) FROM shared.defined WHERE ssn::INTEGER >= 0 AND k = 7',
  ),
  attack(
    "A field's cast over rows that a definer's view leaves out",
    'SELECT max(home.zip::INTEGER), count(*) FROM shared.defined',
  ),
  attack(
    "The known leak over a definer's view",
    'SELECT count(*) FROM shared.defined v JOIN (SELECT 7 AS k) r USING (k) WHERE v.ssn::INTEGER >= 0',
  ),
  attack("EXPLAIN of a definer's view", 'EXPLAIN SELECT * FROM shared.defined WHERE salary > 5000'),
  attack("EXPLAIN ANALYZE of a definer's view", 'EXPLAIN ANALYZE SELECT count(*) FROM shared.defined'),
  attack("The definition of a definer's view", 'SHOW CREATE VIEW shared.defined'),
  attack("A reader's view over a definer's", 'SELECT count(*), max(ssn) FROM shared.over_defined'),
  attack(
    "A field's cast over a reader's view over a definer's",
    'SELECT max(home.zip::INTEGER) FROM shared.over_defined WHERE k = 7',
  ),
  attack(
    "A definer's view over a reader's: what the reader's names was named by nobody with a right to it",
    'SELECT count(*), max(ssn), max(salary) FROM shared.over_invoked',
  ),
  attack(
    "A reader's view replaced by one of his own, below a definer's",
    'CREATE OR REPLACE VIEW shared.invoked AS SELECT id, ssn, salary FROM sealed.people WHERE salary > 5000',
    'SELECT count(*), max(ssn), max(salary) FROM shared.over_invoked',
    'CREATE OR REPLACE VIEW shared.invoked AS SELECT id, ssn, salary FROM sealed.people',
  ),
  attack(
    "A definer's view of his own",
    "CREATE VIEW shared.mine TBLPROPERTIES ('svc.security' = 'definer') AS SELECT * FROM sealed.people",
  ),
  attack(
    "A definer's view replaced by one of his own",
    'CREATE OR REPLACE VIEW shared.defined AS SELECT * FROM sealed.people',
  ),
  preparedAttack(
    'A prepared parameter over a view',
    'SELECT count(*) FROM shared.defined WHERE salary > $1',
    [new Int64(), 5000n],
  ),
  callAttack("A definer's view, prepared before the policies change", {
    kind: 'kept-prepared',
    sql: 'SELECT count(*), max(ssn) FROM shared.over_defined',
  }),
  callAttack('A table, prepared before the policies change', {
    kind: 'kept-prepared',
    sql: 'SELECT count(*), max(ssn) FROM people WHERE k = 7',
  }),
];

/** Tables that are large enough to be divided, and to be answered in several messages. */
export const wideAttacks: readonly Attack[] = [
  attack(
    'How many messages a large result has, and where they end',
    'SELECT id, word FROM wide.many WHERE id < 100000',
  ),
  attack('All of a large table', 'SELECT * FROM wide.many'),
  attack('A large computation', 'SELECT id, upper(word) AS w FROM wide.many WHERE length(word) = 32'),
  attack(
    'Groups of a large table',
    'SELECT k, count(*), min(word), max(other) FROM wide.many GROUP BY k ORDER BY k',
  ),
  attack(
    'Groups of a large table where no rows are hidden',
    'SELECT k, count(*), min(word), max(other) FROM wide.crowd GROUP BY k ORDER BY k',
  ),
  attack(
    'A table that is divided, joined with one that hides rows',
    'SELECT count(*), min(c.word), max(m.other) FROM wide.crowd c JOIN wide.many m ON c.id = m.id',
  ),
  attack(
    'A table that is divided, joined with rows of another that is small',
    'SELECT p.k, count(*), max(c.word) FROM wide.crowd c JOIN people p ON c.id = p.id GROUP BY 1 ORDER BY 1',
  ),
  attack(
    'A cast over a large table that only hidden words fail',
    'SELECT count(*) FROM wide.many m WHERE CASE WHEN m.id % 2 = 1 THEN m.word::BOOLEAN ELSE true END',
  ),
  attack(
    'The known leak over a large table',
    'SELECT count(*) FROM wide.many m JOIN (SELECT 7 AS k) r USING (k) WHERE m.word::INTEGER >= 0',
  ),
  attack('The first rows of a large table', 'SELECT id, word FROM wide.many ORDER BY word LIMIT 10'),
  attack(
    'The first rows in a text, beside rows that are all shown',
    'SELECT m.id FROM wide.many m WHERE m.word NOT IN (SELECT word FROM wide.crowd) ORDER BY m.word LIMIT 10',
  ),
  attack('EXPLAIN of what could be divided', 'EXPLAIN SELECT k, count(*) FROM wide.many GROUP BY k'),
  attack(
    'EXPLAIN ANALYZE of what could be divided',
    'EXPLAIN ANALYZE SELECT count(*) FROM wide.crowd c JOIN wide.many m USING (id)',
  ),
  attack(
    'A copy of a large table, and what it says of its files',
    'CREATE TABLE copied AS SELECT id, word FROM wide.many',
    'SELECT record_count, file_size_in_bytes, split_offsets::VARCHAR FROM "copied$files"',
    'DROP TABLE copied',
  ),
  attack(
    'A time before any row that is shown: was the table there?',
    "SELECT count(*) FROM wide.late FOR TIMESTAMP AS OF TIMESTAMPTZ '{{late}}'",
  ),
  attack(
    'A time before any row, and its columns',
    "SELECT * FROM wide.late FOR TIMESTAMP AS OF TIMESTAMPTZ '{{late}}'",
    "EXPLAIN SELECT * FROM wide.late FOR TIMESTAMP AS OF TIMESTAMPTZ '2001-01-01 00:00:00+00'",
  ),
];

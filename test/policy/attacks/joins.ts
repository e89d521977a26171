import { type Attack, attack } from '../support/attack.js';

/** Joins decide which side is read first, what is pushed below, and which keys reach a scan. */
export const joinAttacks: readonly Attack[] = [
  attack(
    'The known leak: a join key becomes a filter of the scan, and the cast runs before the policy',
    'SELECT count(*) FROM people v JOIN (SELECT 7 AS k) r ON v.k = r.k WHERE v.ssn::INTEGER >= 0',
  ),
  attack(
    'A cast as the join condition fails on a hidden value',
    'SELECT count(*) FROM people v JOIN (SELECT 7 AS i) r ON v.ssn::INTEGER = r.i',
  ),
  attack(
    'A small build side narrows the scan by its keys, and the cast is computed there',
    'SELECT count(*) FROM people v JOIN range(5) r(i) ON v.ssn::INTEGER = r.i',
  ),
  attack(
    'A large build side swaps the sides of the join: people is hashed whole',
    'SELECT count(*) FROM people v JOIN range(200000) r(i) ON v.ssn::INTEGER = r.i',
  ),
  attack(
    'An inequality join computes its condition for every pair, hidden ones included',
    'SELECT count(*) FROM people v JOIN range(3) r(i) ON v.ssn::INTEGER > r.i',
  ),
  attack(
    'A left join keeps the rows of the other side and computes the condition on people',
    'SELECT count(*), count(v.id) FROM range(60) r(i) LEFT JOIN people v ON v.ssn::INTEGER = r.i',
  ),
  attack(
    'A right join shows unmatched rows of people: hidden ones would come with NULL beside them',
    'SELECT count(*), count(r.i), max(v.id) FROM range(3) r(i) RIGHT JOIN people v ON v.k = r.i',
  ),
  attack(
    'A full join counts what matched nothing',
    'SELECT count(*), count(r.i), count(v.id) FROM range(20) r(i) FULL JOIN people v ON v.k = r.i',
  ),
  attack(
    'A semi join stops at the first match, which may be a hidden row',
    'SELECT i FROM range(4000) r(i) SEMI JOIN people v ON v.id = r.i ORDER BY i DESC LIMIT 5',
  ),
  attack(
    'An anti join tells which ids are taken by nobody who may be seen',
    'SELECT count(*) FROM range(6000) r(i) ANTI JOIN people v ON v.id = r.i',
  ),
  attack(
    'A positional join pairs rows by their place in the file, hidden ones between them',
    'SELECT v.id, r.i FROM people v POSITIONAL JOIN range(700) r(i) ORDER BY ALL LIMIT 50',
  ),
  attack(
    'An ASOF join finds the nearest row before: a hidden one is nearer',
    'SELECT r.i, v.id FROM (SELECT 2 * i + 1 AS i FROM range(50) x(i)) r ASOF JOIN people v ON r.i >= v.id ORDER BY ALL',
  ),
  attack(
    'An ASOF join over a cast',
    'SELECT count(*) FROM people v ASOF JOIN range(3) r(i) ON v.ssn::INTEGER >= r.i',
  ),
  attack(
    'A self join finds neighbours that are not there',
    'SELECT count(*) FROM people a JOIN people b ON a.id + 1 = b.id',
  ),
  attack(
    'A self join with a cast on one side only',
    'SELECT count(*) FROM people a JOIN people b ON a.ssn::INTEGER = b.id',
  ),
  attack(
    'A self join by a key, one side narrowed: does the other side see the filter of the policy?',
    'SELECT count(*) FROM people a JOIN people b ON a.k = b.k WHERE a.id = 14 AND b.ssn::INTEGER >= 0',
  ),
  attack('A cross join multiplies by the number of rows', 'SELECT count(*) FROM people a, range(7)'),
  attack('A cross join with itself squares it', 'SELECT count(*) FROM people a, people b'),
  attack('A natural join over all columns', 'SELECT count(*) FROM people NATURAL JOIN people_view'),
  attack(
    'A join USING merges the columns, so that the key may come from either side',
    'SELECT id, count(*) FROM people JOIN (SELECT i AS id FROM range(50) r(i)) n USING (id) GROUP BY ALL ORDER BY ALL',
  ),
  attack(
    'A join on OR cannot be hashed: every pair is computed',
    'SELECT count(*) FROM people v JOIN range(3) r(i) ON v.k = r.i OR v.ssn::INTEGER = r.i',
  ),
  attack(
    'A join on IS NOT DISTINCT FROM meets hidden NULLs',
    'SELECT count(*) FROM people v JOIN (VALUES (NULL), (3)) r(k) ON v.k IS NOT DISTINCT FROM r.k',
  ),
  attack(
    'A join of three tables lets the optimiser choose the order by how many rows there are',
    'SELECT a.id, b.id, o.word FROM people a JOIN people b ON a.k = b.id JOIN open o ON o.id = a.k ORDER BY ALL LIMIT 30',
  ),
  attack(
    'A lateral subquery computes on each row',
    'SELECT count(*) FROM people v, LATERAL (SELECT v.ssn::INTEGER AS x) l WHERE x > 0',
  ),
  attack(
    'A lateral subquery reads people again, by a key of the row before',
    'SELECT v.id, l.n FROM open o, people v, LATERAL (SELECT count(*) AS n FROM people z WHERE z.k = v.k AND z.ssn::INTEGER > o.id) l WHERE v.id = 14 ORDER BY ALL',
  ),
  attack(
    'A left join LATERAL keeps rows for which nothing is found',
    'SELECT o.id, l.m FROM open o LEFT JOIN LATERAL (SELECT max(z.id) AS m FROM people z WHERE z.k = o.id + 100) l ON true ORDER BY ALL',
  ),
  attack(
    'A join with the mapping of the policy itself',
    'SELECT count(*) FROM people v JOIN lake.shared.mapping m ON m.region = v.region WHERE v.ssn::INTEGER >= 0',
  ),
  attack(
    'A join with the mapping finds whose rows they are',
    'SELECT m.username, count(v.id) FROM lake.shared.mapping m LEFT JOIN people v ON v.region = m.region GROUP BY ALL ORDER BY ALL',
  ),
  attack(
    'An unprotected table is narrowed by the keys of the protected one: how many rows were read of it?',
    'EXPLAIN ANALYZE SELECT count(*) FROM open o JOIN people v ON o.id = v.id',
  ),
  attack(
    'Keys of an unprotected table narrow the protected one',
    "SELECT count(*), sum(v.salary) FROM people v JOIN open o ON o.id = v.id WHERE o.word LIKE 'word%'",
  ),
  attack(
    'A join of two protected tables',
    'SELECT count(*), min(s.email) FROM people v JOIN staff s ON s.id = v.id WHERE v.ssn::INTEGER >= 0',
  ),
  attack(
    'Types are unified before the comparison: a number compared with a text casts the text',
    'SELECT count(*) FROM people v JOIN range(5) r(i) ON v.ssn = r.i::VARCHAR AND v.ssn::INTEGER = r.i',
  ),
  attack(
    'A hidden value is larger than the type of the other side',
    'SELECT count(*) FROM people v JOIN (SELECT 107::TINYINT AS s) r ON v.salary::TINYINT = r.s',
  ),
];

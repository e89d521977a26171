import { type Attack, attack } from '../support/attack.js';

/** Set operations, common table expressions, windows, aggregates, subqueries, order and limits. */
export const shapeAttacks: readonly Attack[] = [
  attack(
    'UNION ALL puts a filter into its branches',
    "SELECT count(*) FROM (SELECT ssn FROM people UNION ALL SELECT '1') WHERE ssn::INTEGER >= 0",
  ),
  attack(
    'UNION removes what is double, hidden rows included',
    'SELECT count(*) FROM (SELECT k, region FROM people UNION SELECT k, region FROM people)',
  ),
  attack(
    'EXCEPT tells what is in one and not in the other',
    'SELECT i FROM range(3000) r(i) EXCEPT SELECT id FROM people ORDER BY 1 LIMIT 10',
  ),
  attack(
    'INTERSECT with all possible values',
    "SELECT 'secret-' || i FROM range(50) r(i) INTERSECT SELECT ssn FROM people",
  ),
  attack(
    'INTERSECT takes the filter up, above a cast',
    'SELECT id, k FROM people INTERSECT SELECT id, ssn::INTEGER FROM people ORDER BY 1 LIMIT 3',
    'SELECT id, ssn::INTEGER FROM people INTERSECT ALL SELECT id, k FROM people ORDER BY 1 LIMIT 3',
  ),
  attack(
    'EXCEPT takes the filter up, above a cast',
    'SELECT id, ssn::INTEGER FROM people EXCEPT SELECT id, k FROM people ORDER BY 1 LIMIT 3',
    'SELECT id, k FROM people EXCEPT ALL SELECT id, ssn::INTEGER FROM people ORDER BY 1 LIMIT 3',
  ),
  attack(
    'INTERSECT of what windows and lists compute',
    'SELECT id, rank() OVER (ORDER BY ssn::INTEGER) FROM people INTERSECT SELECT id, k FROM people ORDER BY 1 LIMIT 3',
    'SELECT id, unnest([ssn::INTEGER]) FROM people INTERSECT SELECT id, k FROM people ORDER BY 1 LIMIT 3',
  ),
  attack(
    'Casts of fields, which are computed next to the scan',
    'SELECT home.zip::INTEGER FROM people',
    'SELECT home.zip::INTEGER, id FROM people ORDER BY 1 LIMIT 2',
    'SELECT sum(home.zip::INTEGER) FROM people',
  ),
  attack(
    'Casts of fields beside a cast that needs a barrier',
    'SELECT home.zip::INTEGER FROM people WHERE ssn::INTEGER > 3 ORDER BY id LIMIT 2',
    'SELECT home.zip FROM people WHERE ssn::INTEGER > 3 ORDER BY id LIMIT 2',
    'SELECT id FROM people WHERE home.zip::INTEGER > 3 ORDER BY id LIMIT 2',
  ),
  attack(
    'Groups of casts of fields',
    'SELECT home.zip::INTEGER, count(*) FROM people GROUP BY 1 ORDER BY 1 LIMIT 2',
    'SELECT max(p.home.zip::INTEGER) FROM people p JOIN open o ON p.k = o.id',
  ),
  attack(
    'EXCEPT ALL counts',
    'SELECT count(*) FROM (SELECT k FROM people EXCEPT ALL SELECT k FROM people WHERE ssn::INTEGER > 0)',
  ),
  attack(
    'UNION BY NAME',
    'SELECT count(*) FROM (SELECT ssn, id FROM people UNION ALL BY NAME SELECT id, ssn FROM people) WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'A materialised list is computed whole, before the condition',
    'WITH m AS MATERIALIZED (SELECT * FROM people) SELECT count(*) FROM m WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'A list that is not materialised is looked through',
    'WITH m AS NOT MATERIALIZED (SELECT * FROM people) SELECT count(*) FROM m WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'A list that is read twice, with conditions of both readers pushed into it',
    'WITH m AS MATERIALIZED (SELECT * FROM people) SELECT count(*) FROM m a JOIN m b USING (id) WHERE a.ssn::INTEGER >= 0 AND b.k = 7',
  ),
  attack(
    'A list named like the table',
    'WITH people AS (SELECT * FROM people) SELECT count(*) FROM people WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'A list of the name that the data has behind the view',
    'WITH svc_policy AS (SELECT 1 AS x) SELECT * FROM svc_policy, people WHERE id = 2',
  ),
  attack(
    'A recursion that walks from row to row',
    'WITH RECURSIVE w(id, n) AS (SELECT 0::BIGINT, 0 UNION SELECT p.id, n + 1 FROM w JOIN people p ON p.id = w.id + 1 OR p.id = w.id + 2 WHERE n < 20) SELECT * FROM w ORDER BY ALL',
  ),
  attack(
    'A window numbers rows before the condition',
    'SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY region ORDER BY id) AS rn FROM people) WHERE ssn::INTEGER >= 0 AND rn < 5',
  ),
  attack(
    'Ranks have gaps where hidden rows are',
    'SELECT id, rank() OVER (ORDER BY salary) AS r, dense_rank() OVER (ORDER BY salary) AS d FROM people ORDER BY ALL LIMIT 20',
  ),
  attack(
    'percent_rank and cume_dist divide by the number of rows',
    'SELECT id, percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id) FROM people ORDER BY id LIMIT 5',
  ),
  attack(
    'lag sees the row before, which is hidden',
    'SELECT id, lag(id) OVER (ORDER BY id), lead(ssn) OVER (ORDER BY id) FROM people ORDER BY id LIMIT 10',
  ),
  attack(
    'first_value and last_value over all rows',
    'SELECT DISTINCT first_value(ssn) OVER w, last_value(ssn) OVER w FROM people WINDOW w AS (ORDER BY salary, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)',
  ),
  attack(
    'A frame by distance counts hidden neighbours',
    'SELECT id, count(*) OVER (ORDER BY id RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS n FROM people ORDER BY id LIMIT 10',
  ),
  attack(
    'A window partitioned by a cast',
    'SELECT max(n) FROM (SELECT count(*) OVER (PARTITION BY ssn::INTEGER) AS n FROM people)',
  ),
  attack(
    'A window whose frame is computed from a value',
    'SELECT sum(n) FROM (SELECT count(*) OVER (ORDER BY id ROWS BETWEEN (ssn::INTEGER) PRECEDING AND CURRENT ROW) AS n FROM people)',
  ),
  attack(
    'QUALIFY picks by a rank',
    'SELECT id FROM people QUALIFY row_number() OVER (PARTITION BY k ORDER BY salary DESC, id) = 1 ORDER BY id',
  ),
  attack(
    'ntile divides all rows',
    'SELECT b, count(*), min(id) FROM (SELECT id, ntile(4) OVER (ORDER BY id) AS b FROM people) GROUP BY b ORDER BY b',
  ),
  attack(
    'A correlated EXISTS computes on the outer row',
    'SELECT count(*) FROM people v WHERE EXISTS (SELECT 1 FROM range(3) r(i) WHERE r.i = v.ssn::INTEGER)',
  ),
  attack(
    'A correlated EXISTS over people by a key from outside',
    'SELECT i, EXISTS (SELECT 1 FROM people v WHERE v.id = r.i) FROM range(20) r(i) ORDER BY i',
  ),
  attack(
    'NOT EXISTS finds what is missing',
    'SELECT count(*) FROM range(3000) r(i) WHERE NOT EXISTS (SELECT 1 FROM people v WHERE v.id = r.i)',
  ),
  attack('IN a subquery of a cast', 'SELECT count(*) FROM people WHERE ssn::INTEGER IN (SELECT 7)'),
  attack(
    'IN a subquery that fails on the way',
    'SELECT count(*) FROM open WHERE id IN (SELECT ssn::INTEGER FROM people WHERE k = 3)',
  ),
  attack(
    'NOT IN answers nothing where the list has a NULL: hidden rows have NULLs',
    'SELECT count(*) FROM range(100) r(i) WHERE i NOT IN (SELECT k FROM people)',
  ),
  attack(
    'NOT IN with the region, NULL only in hidden rows',
    "SELECT 'XX' NOT IN (SELECT region FROM people), 'XX' IN (SELECT region FROM people)",
  ),
  attack(
    'ALL compares with every row',
    'SELECT 5000 >= ALL (SELECT salary FROM people), 0 > ANY (SELECT salary FROM people)',
  ),
  attack(
    'A scalar subquery that hidden rows make to many',
    'SELECT (SELECT id FROM people WHERE salary < 101 LIMIT 2)',
  ),
  attack(
    'A scalar subquery of one row when hidden ones are left out',
    'SELECT (SELECT ssn FROM people WHERE id BETWEEN 2 AND 3)',
  ),
  attack(
    'A correlated scalar subquery',
    'SELECT o.id, (SELECT max(v.ssn) FROM people v WHERE v.k = o.id) FROM open o ORDER BY ALL',
  ),
  attack(
    'A correlated scalar subquery over the next id',
    'SELECT v.id, (SELECT n.ssn FROM people n WHERE n.id = v.id + 1) FROM people v ORDER BY v.id LIMIT 20',
  ),
  attack(
    'A subquery in the SELECT list that counts all',
    'SELECT (SELECT count(*) FROM people), (SELECT count(DISTINCT region) FROM people)',
  ),
  attack(
    'A subquery in a CASE that only hidden rows reach',
    "SELECT sum(CASE WHEN region <> 'EU' THEN (SELECT ('hidden ' || region)::INTEGER) ELSE 0 END) FROM people",
  ),
  attack('An aggregate with a failing FILTER', 'SELECT sum(k) FILTER (WHERE ssn::INTEGER > 5) FROM people'),
  attack(
    'A failing aggregate whose FILTER leaves hidden rows out',
    'SELECT sum(ssn::INTEGER) FILTER (WHERE k < 5) FROM people',
  ),
  attack(
    'Count of all, of a column, of what is distinct',
    'SELECT count(*), count(tag), count(DISTINCT ssn), count(k) FROM people',
  ),
  attack('The number of rows alone, which metadata knows', 'SELECT count(*) FROM people'),
  attack('The number of rows by a limit that counts nothing', 'SELECT count(*) FROM (SELECT 1 FROM people)'),
  attack(
    'Extremes, which metadata knows',
    'SELECT min(id), max(id), min(salary), max(salary), min(seen), max(ssn) FROM people',
  ),
  attack('An extreme of one column', 'SELECT max(salary) FROM people'),
  attack('Extremes of a condition that files are pruned by', 'SELECT max(id) FROM people WHERE id > 1100'),
  attack(
    'arg_max and arg_min',
    'SELECT arg_max(ssn, salary), arg_min(ssn, seen), max_by(born, price) FROM people',
  ),
  attack(
    'Moments and quantiles',
    'SELECT round(avg(salary), 6), median(salary), quantile_disc(salary, 0.99), mode(region), round(stddev_pop(k), 9) FROM people',
  ),
  attack('Approximations', 'SELECT approx_count_distinct(ssn), approx_quantile(salary, 0.5) FROM people'),
  attack('Sums that overflow', 'SELECT sum(salary)::BIGINT FROM people'),
  attack(
    'A product',
    'SELECT round(product(1 + score / 1000), 9), bit_xor(id), bool_and(k < 10) FROM people',
  ),
  attack(
    'All values in a list',
    'SELECT list(ssn ORDER BY id)[1:5], len(list(id)), histogram(k) FROM people',
  ),
  attack(
    'All values in a text',
    "SELECT length(string_agg(ssn, ',' ORDER BY id)), string_agg(DISTINCT region, ',') FROM people",
  ),
  attack(
    'GROUP BY a cast',
    'SELECT ssn::INTEGER AS x, count(*) FROM people GROUP BY 1 HAVING x >= 0 ORDER BY ALL',
  ),
  attack('Grouping sets', 'SELECT region, k, count(*) FROM people GROUP BY CUBE (region, k) ORDER BY ALL'),
  attack(
    'HAVING that fails for hidden groups',
    "SELECT region, count(*) FROM people GROUP BY 1 HAVING max(CASE WHEN region = 'EU' THEN 1 ELSE region::INTEGER END) > 0",
  ),
  attack('The order of groups, which is that of hidden rows', 'SELECT k, count(*) FROM people GROUP BY k'),
  attack('The order of distinct values', 'SELECT DISTINCT k FROM people'),
  attack(
    'DISTINCT ON keeps the first of each',
    'SELECT DISTINCT ON (k) k, id, ssn FROM people ORDER BY k, salary DESC, id',
  ),
  attack(
    'DISTINCT before a cast',
    'SELECT count(*) FROM (SELECT DISTINCT ssn, region FROM people) WHERE ssn::INTEGER >= 0',
  ),
  attack(
    'Order by hidden values with a limit',
    'SELECT id, salary FROM people ORDER BY salary DESC, id LIMIT 5',
  ),
  attack('Order by a cast with a limit', 'SELECT id, ssn FROM people ORDER BY ssn::INTEGER, id LIMIT 5'),
  attack(
    'Order by what files are sorted by: bounds decide what is read',
    'SELECT id FROM people ORDER BY id DESC LIMIT 3',
  ),
  attack(
    'Order with NULLs first: only hidden rows have NULLs',
    'SELECT id, k FROM people ORDER BY k NULLS FIRST, id LIMIT 3',
  ),
  attack('A limit without order answers any rows: which?', 'SELECT id, ssn FROM people LIMIT 10'),
  attack('A limit behind an offset', 'SELECT id FROM people ORDER BY id LIMIT 5 OFFSET 300'),
  attack('An offset beyond what is shown', 'SELECT count(*) FROM (SELECT id FROM people LIMIT 5 OFFSET 601)'),
  attack('A percentage of all rows', 'SELECT count(*) FROM (SELECT id FROM people LIMIT 10%)'),
  attack(
    'A limit from a subquery over all rows',
    'SELECT id FROM people ORDER BY id LIMIT (SELECT count(*) // 200 FROM people)',
  ),
  attack('A sample of rows', 'SELECT count(*) FROM people USING SAMPLE 10%'),
  attack('A sample of a number of rows', 'SELECT id FROM people USING SAMPLE 5 ROWS (reservoir, 42)'),
  attack('A sample of the table', 'SELECT count(*) FROM people TABLESAMPLE SYSTEM (50)'),
  attack(
    'A sample with a seed, by row',
    'SELECT count(*) FROM people TABLESAMPLE BERNOULLI (50) REPEATABLE (7)',
  ),
  attack('A sample of everything', 'SELECT count(*) FROM people TABLESAMPLE RESERVOIR (100%)'),
  attack(
    'A sample of a subquery',
    'SELECT count(*) FROM (SELECT * FROM people) s TABLESAMPLE RESERVOIR (50 ROWS) REPEATABLE (1)',
  ),
  attack(
    'UNNEST of a cast',
    'SELECT count(*) FROM (SELECT unnest([ssn::INTEGER]) AS x FROM people) WHERE x > 0',
  ),
  attack(
    'UNNEST of hidden lists, which are longer',
    'SELECT count(*), max(m) FROM (SELECT unnest(marks) AS m FROM people)',
  ),
  attack('Fields of structs', 'SELECT home.city, count(*) FROM people GROUP BY ALL ORDER BY ALL'),
  attack(
    'PIVOT names columns after values',
    'SELECT * FROM (PIVOT (SELECT k, region FROM people) ON region USING count(*)) ORDER BY ALL',
  ),
  attack(
    'PIVOT over what must be computed',
    'SELECT * FROM (PIVOT (SELECT k, ssn::INTEGER % 2 AS s FROM people) ON s IN (0, 1) USING count(*)) ORDER BY ALL',
  ),
  attack(
    'UNPIVOT',
    'SELECT name, count(*) FROM (UNPIVOT (SELECT id, salary FROM people) ON id, salary INTO NAME name VALUE v) GROUP BY ALL ORDER BY ALL',
  ),
  attack('SUMMARIZE tells minima, maxima and counts', 'SELECT * FROM (SUMMARIZE people)'),
  attack('SUMMARIZE as a statement', 'SUMMARIZE people'),
  attack('Whole columns, which go past the engine', 'SELECT * FROM people'),
  attack('Two whole columns', 'SELECT id, ssn FROM people'),
  attack('FROM first', 'FROM people SELECT count(*) WHERE ssn::INTEGER >= 0'),
  attack('TABLE as a statement', 'SELECT count(*) FROM (TABLE people)'),
  attack('All columns by a pattern', "SELECT COLUMNS('s.*') FROM people ORDER BY ALL LIMIT 3"),
  attack(
    'All columns but',
    'SELECT * EXCLUDE (ssn) REPLACE (ssn::INTEGER AS k) FROM people ORDER BY ALL LIMIT 3',
  ),
  attack('The row as a struct', 'SELECT people FROM people ORDER BY id LIMIT 2'),
  attack('The alias as a struct, hashed', 'SELECT count(DISTINCT hash(p)) FROM people p'),
  attack('Every hash of a value', 'SELECT sum(hash(ssn) % 1000)::BIGINT FROM people'),
  attack(
    'A generated series up to a hidden number',
    'SELECT count(*) FROM people p, LATERAL (SELECT unnest(range(p.ssn::INTEGER))) l',
  ),
];

import { type Attack, attack } from '../support/attack.js';

/**
 * `staff` shows all its rows; `email` is its first letter and stars, `pay` and `badges` are NULL, `phone` is a word or NULL,
 * `grade` is 0. Whoever reaches a value behind a mask is told another thing in each world.
 */
export const maskAttacks: readonly Attack[] = [
  attack(
    'The masked columns as they are',
    'SELECT id, email, pay, phone, grade, badges FROM staff ORDER BY id',
  ),
  attack('All columns, which go past the engine', 'SELECT * FROM staff'),
  attack('A search by the true value', "SELECT id FROM staff WHERE email LIKE '%secret%'"),
  attack('A search by a suffix behind the mask', "SELECT count(*) FROM staff WHERE email LIKE '%-17%'"),
  attack(
    'A search by the exact true value',
    "SELECT count(*) FROM staff WHERE phone = 'secret-17' OR phone = '1'",
  ),
  attack('A range over the true numbers: bounds prune files', 'SELECT count(*) FROM staff WHERE pay > 5'),
  attack('A range outside all true numbers', 'SELECT count(*) FROM staff WHERE pay < -400000'),
  attack('A range over a mask that is a constant', 'SELECT count(*) FROM staff WHERE grade > 0'),
  attack(
    'A range that the constant passes and true values do not',
    'SELECT count(*) FROM staff WHERE grade BETWEEN -1 AND 1',
  ),
  attack(
    'Equality with the masked constant, which bounds exclude',
    'SELECT count(*) FROM staff WHERE grade = 0',
  ),
  attack(
    'Equality with the word of the mask, which bounds exclude',
    "SELECT count(*) FROM staff WHERE phone = 'hidden'",
  ),
  attack(
    'A prefix that the mask lets through',
    "SELECT id, email FROM staff WHERE email LIKE 'b%' ORDER BY id",
  ),
  attack('NULL that the mask lets through', 'SELECT count(*) FROM staff WHERE phone IS NULL'),
  attack('NULL that the mask makes', 'SELECT count(*) FROM staff WHERE pay IS NOT NULL'),
  attack(
    'An IN list of true values',
    "SELECT count(*) FROM staff WHERE phone IN ('1', 'secret-1', 'secret-2')",
  ),
  attack('An order by true values with a limit', 'SELECT id FROM staff ORDER BY pay DESC, id LIMIT 5'),
  attack('An order by true texts', 'SELECT id FROM staff ORDER BY email, id LIMIT 10'),
  attack(
    'An order by a masked constant, first rows by bounds',
    'SELECT id FROM staff ORDER BY grade, id DESC LIMIT 3',
  ),
  attack(
    'Extremes of masked columns, which metadata knows',
    'SELECT min(pay), max(pay), min(grade), max(grade), min(email), max(phone) FROM staff',
  ),
  attack(
    'Counts of masked columns, whose NULLs metadata knows',
    'SELECT count(*), count(pay), count(phone), count(grade) FROM staff',
  ),
  attack('One extreme alone', 'SELECT max(grade) FROM staff'),
  attack(
    'Distinct true values',
    'SELECT count(DISTINCT email), count(DISTINCT phone), count(DISTINCT grade) FROM staff',
  ),
  attack('Groups of true values', 'SELECT phone, count(*) FROM staff GROUP BY 1 ORDER BY ALL'),
  attack('Groups of a computation', 'SELECT grade % 3 AS g, count(*) FROM staff GROUP BY 1 ORDER BY ALL'),
  attack(
    'A join by true values with a list of guesses',
    "SELECT count(*) FROM staff s JOIN (SELECT 'secret-' || i AS guess FROM range(500) r(i)) g ON s.phone = g.guess",
  ),
  attack('A join by true numbers', 'SELECT count(*) FROM staff s JOIN range(10) r(i) ON s.pay = r.i'),
  attack(
    'A join of the masked column with itself',
    'SELECT count(*) FROM staff a JOIN staff b ON a.phone = b.phone',
  ),
  attack(
    'A join by a masked constant, whose keys narrow the scan',
    'SELECT count(*) FROM staff s JOIN (VALUES (0), (3)) v(g) ON s.grade = v.g',
  ),
  attack(
    'An anti join by true values',
    "SELECT count(*) FROM (SELECT 'secret-' || i AS guess FROM range(500) r(i)) g ANTI JOIN staff s ON s.email = g.guess",
  ),
  attack('A cast of a true text', 'SELECT count(*) FROM staff WHERE phone::INTEGER > 0'),
  attack('A cast of a true text in a list', 'SELECT sum(TRY_CAST(substr(email, 2) AS INTEGER)) FROM staff'),
  attack(
    'A cast of a true number that does not fit',
    'SELECT sum(pay::TINYINT), sum(grade::TINYINT) FROM staff',
  ),
  attack('Arithmetic that fails on true numbers', 'SELECT max(grade + 2147483000) FROM staff'),
  attack('A division by a true number', 'SELECT count(10 // grade), sqrt(max(grade)) FROM staff'),
  attack(
    'A hash of the true value',
    'SELECT id, hash(email), md5(phone), sha256(email) FROM staff ORDER BY id LIMIT 20',
  ),
  attack(
    'A length of the true value',
    'SELECT DISTINCT length(email), length(phone), len(badges) FROM staff ORDER BY ALL',
  ),
  attack(
    'Characters of the true value',
    'SELECT substr(email, 2, 1), ascii(substr(phone, 1, 1)), reverse(email) FROM staff ORDER BY ALL LIMIT 20',
  ),
  attack(
    'A comparison of two masked columns',
    'SELECT count(*) FROM staff WHERE email = phone OR phone > email',
  ),
  attack(
    'A comparison of a masked column with a shown one',
    'SELECT count(*) FROM staff WHERE grade > team OR pay > id',
  ),
  attack(
    'A regular expression over the true value',
    "SELECT count(*) FROM staff WHERE regexp_matches(email, 'secret-[0-9]+')",
  ),
  attack(
    'A similarity to a guess',
    "SELECT id, levenshtein(email, 'asecret-0'), jaccard(email, 'asecret-0') FROM staff ORDER BY id LIMIT 5",
  ),
  attack(
    'CASE over the true value',
    "SELECT sum(CASE WHEN email LIKE '_secret%' THEN 1 ELSE 0 END) FROM staff",
  ),
  attack(
    'An error that quotes the true value',
    "SELECT count(*) FROM staff WHERE CASE WHEN phone LIKE 'secret%' THEN phone::BOOLEAN ELSE true END",
  ),
  attack(
    'A window over the true value',
    'SELECT id, row_number() OVER (ORDER BY pay, id), lag(email) OVER (ORDER BY id) FROM staff ORDER BY id LIMIT 10',
  ),
  attack(
    'A window partitioned by the true value',
    'SELECT max(n) FROM (SELECT count(*) OVER (PARTITION BY phone) AS n FROM staff)',
  ),
  attack(
    'A correlated subquery by the true value',
    'SELECT count(*) FROM staff a WHERE EXISTS (SELECT 1 FROM staff b WHERE b.phone = a.phone AND b.id <> a.id)',
  ),
  attack('DISTINCT ON the true value', 'SELECT DISTINCT ON (grade) grade, id FROM staff ORDER BY grade, id'),
  attack(
    'UNION of true and shown values',
    'SELECT count(*) FROM (SELECT email FROM staff UNION SELECT name FROM staff)',
  ),
  attack(
    'A list behind a mask',
    "SELECT count(*), max(badges[1]) FROM staff WHERE list_contains(badges, '1')",
  ),
  attack('UNNEST of a list behind a mask', 'SELECT count(*) FROM (SELECT unnest(badges) FROM staff)'),
  attack('The row as a struct', 'SELECT staff FROM staff ORDER BY id LIMIT 3'),
  attack(
    'The types of masked columns',
    'SELECT DISTINCT typeof(email), typeof(pay), typeof(phone), typeof(grade), typeof(badges) FROM staff',
  ),
  attack('Columns described', 'DESCRIBE staff'),
  attack('Columns of a query described', 'DESCRIBE SELECT email, pay, grade, badges FROM staff'),
  attack('SUMMARIZE over masks', 'SELECT * FROM (SUMMARIZE staff)'),
  attack(
    'An unqualified name, an alias of the same name',
    "SELECT 'secret' AS email, s.email AS other FROM staff s WHERE email LIKE '%secret%'",
  ),
  attack(
    'Quantiles and moments',
    'SELECT median(grade), stddev_pop(grade), quantile_disc(pay, 0.5), histogram(grade) FROM staff',
  ),
  attack(
    'arg_max by a masked column',
    'SELECT arg_max(id, grade), arg_max(id, email), arg_min(id, phone) FROM staff',
  ),
  attack(
    'A materialised list over masks',
    "WITH m AS MATERIALIZED (SELECT * FROM staff) SELECT count(*) FROM m WHERE email LIKE '%secret%'",
  ),
  attack('A view over masks', "SELECT count(*), max(email) FROM staff_view WHERE email LIKE '%secret%'"),
  attack('What EXPLAIN says of a range over the true numbers', 'EXPLAIN SELECT id FROM staff WHERE pay > 5'),
  attack('What EXPLAIN says of a constant', 'EXPLAIN SELECT id FROM staff WHERE grade = 0'),
  attack('What EXPLAIN ANALYZE says', "EXPLAIN ANALYZE SELECT id FROM staff WHERE phone = 'secret-1'"),
  attack('The files, their sizes and bounds', 'SELECT * FROM "staff$files"'),
  attack('Partitions with extremes', 'SELECT * FROM "staff$partitions"'),
];

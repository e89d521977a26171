import { type Attack, attack } from '../support/attack.js';

/** Expressions that fail on hidden values, or stand out: wherever one is computed on a hidden row, it is told. */
const failing: Readonly<Record<string, string>> = {
  'A cast to a number': 'ssn::INTEGER >= 0',
  'A cast to a decimal that is too narrow': 'price::DECIMAL(5, 2) >= 0',
  'A cast to a small number': 'salary::SMALLINT > 0',
  'A cast to a date': "born::DATE > DATE '1900-01-01'",
  'A cast to an interval': "(ssn || ' days')::INTERVAL IS NOT NULL",
  'A cast to a UUID, guarded for those who are seen':
    'CASE WHEN id % 2 = 0 THEN true ELSE ssn::UUID IS NOT NULL END',
  'A cast to JSON': 'note::JSON IS NOT NULL',
  'A cast of a field of a struct': 'home.zip::INTEGER >= 0',
  'A cast of an element of a list': 'marks[1]::TINYINT >= 0',
  'An addition that overflows': 'salary + 9223372036854774000 > 0',
  'A subtraction that overflows': '-9223372036854774000 - salary < 0',
  'A multiplication that overflows': 'salary * 1000000000000000 > 0',
  'A negation that overflows': '-(salary - 2) - 9223372036854770000 < 0',
  'A decimal that overflows': 'price * 1000000000000000::DECIMAL(18, 0) > 0',
  'A division by zero': "1 // (CASE WHEN ssn LIKE 'secret%' THEN 0 ELSE 1 END) = 1",
  'A remainder by zero': "id % (CASE WHEN ssn LIKE 'secret%' THEN 0 ELSE 1 END) = 0",
  'error() with the value itself': "CASE WHEN ssn LIKE 'secret%' THEN error(ssn) ELSE true END",
  'A cast in a branch that shown rows never take':
    "CASE WHEN region = 'EU' THEN true ELSE region::BOOLEAN END",
  'The root of a negative number': 'sqrt(salary) > 0',
  'A logarithm of what has none': 'ln(salary) > 0',
  'An arc cosine beyond one': 'acos(score) >= 0',
  'strptime of what is no date': "strptime(born, '%Y-%m-%d') IS NOT NULL",
  'A date of parts that are none': 'make_date(2020, 1 + k, 1) IS NOT NULL',
  'A timestamp out of range': 'to_timestamp(salary * 100000000) IS NOT NULL',
  'A date beyond the calendar': "DATE '2020-01-01' + k * 1000000 IS NOT NULL",
  'A regular expression that does not compile': "regexp_matches('tag', coalesce(tag, 'x')) IS NOT NULL",
  'A replacement by a broken regular expression': "regexp_replace('tag', coalesce(tag, 'x'), '') <> ''",
  'An extraction by a broken regular expression': "regexp_extract('tag', coalesce(tag, 'x')) IS NOT NULL",
  'LIKE with an escape that ends the pattern':
    "'a' LIKE (CASE WHEN ssn LIKE 'secret%' THEN 'a\\' ELSE 'a' END) ESCAPE '\\'",
  'A text repeated as often as a value says': "length(repeat('x', ssn::INTEGER)) >= 0",
  'A text as long as a hidden number': "length(rpad('x', salary::INTEGER, 'y')) > 0",
  'A character of a hidden number': 'chr(salary::INTEGER) IS NOT NULL',
  'JSON that does not parse': "json_extract(note, '$.a') IS NOT NULL",
  'JSON whose path is a value': "json_extract('{}', '$.' || coalesce(tag, 'x')) IS NULL",
  'A factorial of a large number': 'factorial(salary::INTEGER % 10) > 0',
  'A bit shift out of range':
    '(1::BIGINT << (CASE WHEN k IS NULL OR k > 60 THEN 100 ELSE k END)::INTEGER) > 0',
  'A struct of hidden values, cast': 'struct_pack(a := ssn)::STRUCT(a INTEGER) IS NOT NULL',
  'A list of hidden values, cast': '[ssn]::INTEGER[] IS NOT NULL',
  'A lambda over a hidden list':
    'list_transform(marks, lambda m: (m + 9223372036854775700)::BIGINT) IS NOT NULL',
  'A list lambda with a cast': 'list_filter([ssn], lambda s: s::INTEGER > 0) IS NOT NULL',
  'decode of bytes that are no text':
    "decode(CASE WHEN ssn LIKE 'secret%' THEN '\\xFF'::BLOB ELSE 'x'::BLOB END) <> ''",
  'from_hex of what is none': "CASE WHEN ssn LIKE 'secret%' THEN unhex(ssn) ELSE 'a'::BLOB END IS NOT NULL",
  'base64 of what is none':
    "CASE WHEN ssn LIKE 'secret%' THEN from_base64(ssn) ELSE 'a'::BLOB END IS NOT NULL",
};

/** One failing expression in another place: each line is an order of evaluation that somebody hopes for. */
const places: readonly (readonly [words: string, sql: (condition: string) => string])[] = [
  ['as the only condition', (condition) => `SELECT count(*) FROM people WHERE ${condition}`],
  [
    'beside a join key that becomes a filter of the scan',
    (condition) => `SELECT count(*) FROM people v JOIN (SELECT 7 AS k) r USING (k) WHERE ${condition}`,
  ],
];

const everywhere = Object.entries(failing).flatMap(([what, condition]) =>
  places.map(([where, sql]) => attack(`${what}, ${where}`, sql(condition))),
);

/** Places for one cast that the list above has not. */
const orders: readonly Attack[] = [
  attack('OR makes one filter of two', 'SELECT count(*) FROM people WHERE k = 3 OR ssn::INTEGER >= 0'),
  attack('NOT turns the filter round', 'SELECT count(*) FROM people WHERE NOT (ssn::INTEGER < 0 OR k > 20)'),
  attack(
    'A cheap condition before a failing one',
    'SELECT count(*) FROM people WHERE k IN (1, 2, 3) AND ssn::DECIMAL(9, 2) > 1',
  ),
  attack(
    'A condition that only hidden rows pass, before a failing one',
    "SELECT count(*) FROM people WHERE region <> 'EU' AND ssn::INTEGER > 0",
  ),
  attack(
    'A condition that is NULL for hidden rows only',
    'SELECT count(*) FROM people WHERE region IS NULL OR k IS NULL',
  ),
  attack(
    'The opposite of the policy',
    "SELECT count(*), max(ssn) FROM people WHERE NOT (region = 'EU') OR id % 2 = 1",
  ),
  attack(
    'The opposite of the policy, failing',
    'SELECT count(*) FROM people WHERE id % 2 = 1 AND ssn::BOOLEAN IS NULL',
  ),
  attack(
    'CASE with the policy as its guard',
    "SELECT count(*) FROM people WHERE CASE WHEN region = 'EU' THEN false ELSE ssn::INTEGER > 0 END",
  ),
  attack(
    'coalesce as a guard',
    'SELECT count(*) FROM people WHERE coalesce(tag, ssn::INTEGER::VARCHAR) IS NOT NULL',
  ),
  attack(
    'A condition folded with a constant that is false',
    'SELECT count(*) FROM people WHERE 1 = 0 AND ssn::INTEGER > 0',
  ),
  attack(
    'A range that lies above all that is shown: an empty plan tells the maximum',
    'SELECT count(*) FROM people WHERE salary > 9000000000',
  ),
  attack(
    'A range between the hidden values',
    "SELECT count(*) FROM people WHERE seen < TIMESTAMP '1969-01-01'",
  ),
  attack('A search by an exact hidden value', "SELECT count(*) FROM people WHERE ssn = 'secret-17'"),
  attack('A prefix of hidden values', "SELECT count(*) FROM people WHERE ssn LIKE 'secret-1%'"),
  attack(
    'An IN list of ids, hidden ones among them',
    'SELECT id FROM people WHERE id IN (1, 2, 3, 4, 5, 401, 402) ORDER BY id',
  ),
  attack('BETWEEN over what zone maps know', 'SELECT count(*) FROM people WHERE id BETWEEN 3001 AND 99999'),
  attack(
    'A long IN list with one failing comparison',
    'SELECT count(*) FROM people WHERE ssn::INTEGER IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)',
  ),
  attack('A failing SELECT list below LIMIT', 'SELECT ssn::INTEGER FROM people LIMIT 5'),
  attack(
    'A failing SELECT list below ORDER BY and LIMIT',
    'SELECT ssn::INTEGER FROM people ORDER BY id LIMIT 5',
  ),
  attack(
    'TRY tells errors as NULL: how many?',
    'SELECT count(*), count(TRY(ssn::INTEGER)), count(TRY_CAST(born AS DATE)) FROM people',
  ),
  attack(
    'What typeof and NULL tell',
    'SELECT DISTINCT typeof(ssn), typeof(marks), region IS NULL FROM people',
  ),
];

/** The engine computes casts of a struct's fields where it reads them. */
const fields: readonly Attack[] = [
  attack(
    'A cast of a field, which goes down to the scan with the field: in an order',
    'SELECT id, ssn FROM people WHERE k IN (1, 2, 3) ORDER BY home.zip::INTEGER, id LIMIT 5',
  ),
  attack(
    'A cast of a field in a window',
    'SELECT max(r) FROM (SELECT rank() OVER (ORDER BY home.zip::INTEGER) AS r FROM people)',
  ),
  attack(
    'A cast of a field in an aggregate',
    'SELECT k, max(home.zip::INTEGER) FROM people WHERE k = 7 GROUP BY 1 ORDER BY ALL',
  ),
  attack(
    'A cast of a field as it is answered',
    'SELECT sum(x) FROM (SELECT home.zip::INTEGER AS x FROM people)',
  ),
  attack(
    'A cast of a field that only hidden rows would meet',
    'SELECT max(home.city::DATE) FROM people WHERE id < 0',
  ),
  attack(
    'A cast of a field below a join',
    'SELECT count(*) FROM people a JOIN people b ON a.home.zip::INTEGER = b.id',
  ),
  attack(
    'A cast of the whole struct',
    'SELECT max(home::STRUCT(city VARCHAR, zip INTEGER)) FROM people WHERE k = 7',
  ),
];

export const predicateAttacks: readonly Attack[] = [...everywhere, ...orders, ...fields];

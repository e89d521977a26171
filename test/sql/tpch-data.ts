/**
 * Tables with TPC-H's columns and few rows, in which every value that its 22 statements ask for is frequent: each of them
 * answers rows. Values come from hashes of row numbers, so they are the same everywhere.
 */

const nations: readonly (readonly [name: string, region: number])[] = [
  ['ALGERIA', 0],
  ['ARGENTINA', 1],
  ['BRAZIL', 1],
  ['CANADA', 1],
  ['EGYPT', 4],
  ['FRANCE', 3],
  ['GERMANY', 3],
  ['INDIA', 2],
  ['IRAN', 4],
  ['JAPAN', 2],
  ['KENYA', 0],
  ['SAUDI ARABIA', 4],
  ['UNITED KINGDOM', 3],
];
const regions: readonly string[] = ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'];

let salt = 0;

/** A number from 0 below `count`, by the row's number. */
function upTo(row: string, count: number | string): string {
  salt += 1;
  return `(hash(${row} * 1000 + ${salt}) % ${count})::BIGINT`;
}

function oneOf(row: string, values: readonly string[]): string {
  const list = values.map((value) => `'${value}'`).join(', ');
  return `[${list}][1 + ${upTo(row, values.length)}]`;
}

function money(row: string, least: number, most: number): string {
  return `((${least * 100} + ${upTo(row, (most - least) * 100)}) / 100)::DECIMAL(15,2)`;
}

/** CREATE TABLE statements; the number of rows of the largest is about four times `orders`. */
export function tpchStatements(orders: number): readonly string[] {
  salt = 0;
  const [customers, parts, suppliers] = [orders / 10, orders / 10, Math.max(40, orders / 50)];
  const rows = (values: readonly string[]) => values.join(', ');
  return [
    `CREATE TABLE region AS SELECT k::INTEGER r_regionkey, n::VARCHAR r_name, 'of a region' r_comment
     FROM (VALUES ${rows(regions.map((name, key) => `(${key}, '${name}')`))}) v(k, n)`,
    `CREATE TABLE nation AS SELECT k::INTEGER n_nationkey, n::VARCHAR n_name, r::INTEGER n_regionkey, 'of a nation' n_comment
     FROM (VALUES ${rows(nations.map(([name, region], key) => `(${key}, '${name}', ${region})`))}) v(k, n, r)`,
    `CREATE TABLE supplier AS SELECT i::BIGINT s_suppkey, 'Supplier#' || i s_name, 'street ' || i s_address,
       (i % ${nations.length})::INTEGER s_nationkey, (10 + i % ${nations.length}) || '-555-' || i s_phone,
       ${money('i', -900, 9900)} s_acctbal,
       CASE WHEN i % 7 = 0 THEN 'a Customer has many Complaints' ELSE 'plain' END s_comment
     FROM range(${suppliers}) t(i)`,
    `CREATE TABLE part AS SELECT i::BIGINT p_partkey,
       ${oneOf('i', ['forest', 'green', 'azure'])} || ' ' || ${oneOf('i', ['green', 'lime', 'tan'])} p_name,
       'Manufacturer#' || (i % 5) p_mfgr, ${oneOf('i', ['Brand#12', 'Brand#23', 'Brand#34', 'Brand#45'])} p_brand,
       ${oneOf('i', ['ECONOMY ANODIZED STEEL', 'PROMO PLATED BRASS', 'STANDARD BRUSHED BRASS', 'MEDIUM POLISHED TIN'])} p_type,
       ${oneOf('i', ['15', '49', '3', '9', '5'])}::INTEGER p_size,
       ${oneOf('i', ['SM CASE', 'MED BOX', 'MED BAG', 'LG BOX', 'JUMBO JAR'])} p_container,
       ${money('i', 900, 2000)} p_retailprice, 'of a part' p_comment FROM range(${parts}) t(i)`,
    `CREATE TABLE partsupp AS SELECT (i // 4)::BIGINT ps_partkey, ((i // 4 + (i % 4) * 11) % ${suppliers})::BIGINT ps_suppkey,
       (1 + ${upTo('i', 999)})::INTEGER ps_availqty, ${money('i', 1, 1000)} ps_supplycost, 'of both' ps_comment
     FROM range(${parts * 4}) t(i)`,
    `CREATE TABLE customer AS SELECT i::BIGINT c_custkey, 'Customer#' || i c_name, 'street ' || i c_address,
       (i % ${nations.length})::INTEGER c_nationkey,
       ${oneOf('i', ['13', '31', '23', '11'])} || '-555-' || i c_phone, ${money('i', -900, 9900)} c_acctbal,
       ${oneOf('i', ['BUILDING', 'MACHINERY'])} c_mktsegment, 'of a customer' c_comment FROM range(${customers}) t(i)`,
    `CREATE TABLE orders AS SELECT i::BIGINT o_orderkey, (${upTo('i', customers / 3)} * 3)::BIGINT o_custkey,
       ${oneOf('i', ['F', 'O', 'P'])} o_orderstatus, ${money('i', 1000, 300_000)} o_totalprice,
       (DATE '1992-01-01' + ${upTo('i', 2400)}::INTEGER)::DATE o_orderdate,
       ${oneOf('i', ['1-URGENT', '2-HIGH', '3-MEDIUM', '5-LOW'])} o_orderpriority, 'Clerk#' || (i % 10) o_clerk,
       0::INTEGER o_shippriority,
       CASE WHEN i % 11 = 0 THEN 'a special one of many requests' ELSE 'plain' END o_comment FROM range(${orders}) t(i)`,
    `CREATE TABLE lineitem AS SELECT o::BIGINT l_orderkey, p::BIGINT l_partkey,
       ((p + ${upTo('r', 4)} * 11) % ${suppliers})::BIGINT l_suppkey, n::INTEGER l_linenumber, q::DECIMAL(15,2) l_quantity,
       ${money('r', 900, 90_000)} l_extendedprice, (${upTo('r', 11)} / 100)::DECIMAL(15,2) l_discount,
       (${upTo('r', 9)} / 100)::DECIMAL(15,2) l_tax, ${oneOf('r', ['R', 'A', 'N'])} l_returnflag,
       ${oneOf('r', ['O', 'F'])} l_linestatus, d::DATE l_shipdate, (d + ${upTo('r', 60)}::INTEGER - 30)::DATE l_commitdate,
       (d + 1 + ${upTo('r', 30)}::INTEGER)::DATE l_receiptdate,
       ${oneOf('r', ['DELIVER IN PERSON', 'NONE'])} l_shipinstruct,
       ${oneOf('r', ['MAIL', 'SHIP', 'AIR', 'AIR REG', 'RAIL'])} l_shipmode, 'of a line' l_comment
     FROM (SELECT o, n, o * 10 + n r, ${upTo('(o * 10 + n)', parts)} p,
             CASE WHEN o % 37 = 0 THEN 50 ELSE 1 + ${upTo('(o * 10 + n)', 50)} END q,
             o_orderdate + ${upTo('(o * 10 + n)', 120)}::INTEGER + 1 d
           FROM orders JOIN range(1, 8) l(n) ON true, LATERAL (SELECT o_orderkey o)
           WHERE o % 37 = 0 OR n <= 1 + o % 4)`,
  ];
}

/** Rows of the tables at scale factor 1. */
export const tpchRowCounts: Readonly<Record<string, number>> = {
  region: 5,
  nation: 25,
  supplier: 10_000,
  part: 200_000,
  partsupp: 800_000,
  customer: 150_000,
  orders: 1_500_000,
  lineitem: 6_001_215,
};

export const tpchTables: readonly string[] = Object.keys(tpchRowCounts);

/** `schema.table` → the query whose rows it has, for tables that are made apart from each other. */
export function tpchTableQueries(schema: string, orders: number): Record<string, string> {
  const queries: Record<string, string> = {};
  const known: string[] = [];
  for (const [index, statement] of tpchStatements(orders).entries()) {
    const table = tpchTables[index] ?? '';
    const sql = statement.slice(statement.indexOf(' AS ') + 4);
    // A table's query may read those before it.
    queries[`${schema}.${table}`] = known.length === 0 ? sql : `WITH ${known.join(', ')} ${sql}`;
    if (table === 'orders') known.push(`orders AS (${sql})`);
  }
  return queries;
}

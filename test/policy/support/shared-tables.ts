/**
 * Schemas beside those of the filters, one of each in a world. `sealed` has policies on the schema itself, and views of many kinds
 * stand over it; `wide` has tables that are divided where fragments run elsewhere, and one that is younger than it seems.
 */
import { peopleOf, type World } from './people.js';

/** In the loud world half of the rows are hidden, and lie between the others; they are another number in each stretch. */
const crowds: Readonly<Record<World, string>> = {
  quiet: 'i % 1000 = 1',
  loud: 'i % 2 = 1 AND i % 4096 < 2900',
};

function crowdOf(world: World, from: number, to: number): string {
  return `SELECT i::BIGINT AS id, (i % 10)::INTEGER AS k, md5(i::VARCHAR) AS word, md5((i * 7)::VARCHAR) AS other
    FROM range(${from}, ${to}) r(i) WHERE i % 2 = 0 OR ${crowds[world]}`;
}

export function sharedTables(world: World): readonly string[] {
  return [
    'CREATE SCHEMA sealed',
    `CREATE TABLE sealed.people AS ${peopleOf(world)}`,
    'CREATE TABLE sealed.ledger AS SELECT id, region, ssn, salary FROM sealed.people',
    'CREATE TABLE sealed.bare AS SELECT 1 AS id',
    'CREATE VIEW sealed.direct AS SELECT id, region, k, ssn FROM sealed.people',
    'CREATE VIEW sealed.narrow AS SELECT id, ssn FROM sealed.people',
    'CREATE VIEW shared.invoked AS SELECT id, ssn, salary FROM sealed.people',
    `CREATE VIEW shared.defined TBLPROPERTIES ('svc.security' = 'definer')
      AS SELECT id, k, ssn, salary, home FROM sealed.people WHERE region = 'EU'`,
    "CREATE VIEW shared.over_invoked TBLPROPERTIES ('svc.security' = 'definer') AS SELECT * FROM shared.invoked",
    'CREATE VIEW shared.over_defined AS SELECT id, k, ssn, home FROM shared.defined',
    'CREATE SCHEMA wide',
    `CREATE TABLE wide.crowd AS ${crowdOf('quiet', 0, 30_000)}`,
    `INSERT INTO wide.crowd ${crowdOf('quiet', 30_000, 60_000)}`,
    `CREATE TABLE wide.many AS ${crowdOf(world, 0, 60_000)}`,
    `INSERT INTO wide.many ${crowdOf(world, 60_000, 120_000)}`,
    'CREATE TABLE wide.late (id BIGINT)',
    ...(world === 'loud' ? ['INSERT INTO wide.late SELECT 1::BIGINT'] : []),
    'INSERT INTO wide.late SELECT 2::BIGINT',
  ];
}

export const sharedPolicies: readonly string[] = [
  "CREATE POLICY sealed_rows ON SCHEMA sealed ROW FILTER (region = 'EU') TO analyst EXCEPT admin",
  'CREATE POLICY sealed_ssn ON SCHEMA sealed COLUMN MASK ssn (left(ssn, 1)) TO analyst EXCEPT admin',
  'CREATE POLICY wide_many ON TABLE wide.many ROW FILTER (id % 2 = 0) TO analyst EXCEPT admin',
  'CREATE POLICY wide_late ON TABLE wide.late ROW FILTER (id % 2 = 0) TO analyst EXCEPT admin',
];

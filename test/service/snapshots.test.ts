/** A plan pins what it reads. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { readTicket, rows, rowsOf, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { commitSnapshotOf } from './support/tables.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({
    tables: {
      'sales.counts': 'SELECT i::BIGINT AS id FROM range(1000) r(i)',
      'sales.next': 'SELECT i::BIGINT AS id FROM range(5000, 5010) r(i)',
    },
  });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('a ticket', () => {
  it('run twice gives equal results although a new snapshot was committed in between', async () => {
    const sql = 'SELECT count(*), min(id), max(id) FROM sales.counts';
    const { tickets } = await client.planStatement(sql);
    const { handle } = await client.prepare(sql);
    const before = [[1000n, 0n, 999n]];
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
    await commitSnapshotOf(locationOf('sales.counts'), locationOf('sales.next'));
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
    const after = [[10n, 5000n, 5009n]];
    const replanned = await client.planPrepared(handle);
    assert.deepEqual(rowsOf(await readTicket(client, replanned.tickets[0])), after);
    const fresh = await client.planStatement(sql);
    assert.deepEqual(rowsOf(await readTicket(client, fresh.tickets[0])), after);
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
  });

  it('has one clock, however often and late it runs', async () => {
    const { tickets } = await client.planStatement('SELECT now()::VARCHAR, current_date::VARCHAR');
    const first = rowsOf(await readTicket(client, tickets[0]));
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), first);
  });
});

describe('a snapshot that is not the newest', () => {
  it('is read by its id, and listed by nobody else', async () => {
    const sql = `EXPLAIN SELECT * FROM sales.counts`;
    const plan = rowsOf(await readTicket(client, (await client.planStatement(sql)).tickets[0]))
      .flat()
      .join('\n');
    const current = /snapshot (\d+)/.exec(plan)?.[1];
    assert.equal(await value(client, `SELECT count(*) FROM sales.counts FOR VERSION AS OF ${current}`), 10n);
    await assert.rejects(value(client, 'SELECT count(*) FROM sales.counts FOR VERSION AS OF 1'), {
      code: 'SNAPSHOT_NOT_FOUND',
    });
  });
});

describe('time travel', () => {
  let first: unknown;
  let second: unknown;
  before(async () => {
    await client.update('CREATE SCHEMA past');
    await client.update("CREATE TABLE past.t AS SELECT 1 AS id, 'a' AS old");
    await client.update('INSERT INTO past.t VALUES (2, NULL)');
    await client.update('CREATE OR REPLACE TABLE past.t AS SELECT 3 AS id, true AS fresh, 0 AS more');
    const ids = await rows(
      client,
      'SELECT snapshot_id FROM past."t$snapshots" ORDER BY committed_at, operation',
    );
    [[first], [second]] = [ids[0] ?? [], ids[1] ?? []];
    await client.update(
      `CREATE VIEW past.both AS SELECT n.id, o.old FROM past.t n, past.t FOR VERSION AS OF ${second} AS o`,
    );
    await client.update(
      `CREATE VIEW past.around AS SELECT b.id + o.id AS id FROM past.both b, past.t FOR VERSION AS OF ${first} AS o`,
    );
  });

  it('reads each snapshot under its own columns, however it is asked for', async () => {
    const current = [[3, true, 0]];
    const at = (await value(
      client,
      `SELECT committed_at::VARCHAR FROM past."t$snapshots" WHERE snapshot_id = ${second}`,
    )) as string;
    const texts: readonly (readonly [sql: string, answer: unknown])[] = [
      [`FROM past.t FOR VERSION AS OF ${first}`, [[1, 'a']]],
      [
        `FROM past.t t FOR VERSION AS OF ${second} ORDER BY id`,
        [
          [1, 'a'],
          [2, null],
        ],
      ],
      [`SELECT x.old FROM past.t FOR SYSTEM_VERSION AS OF ${first} AS x`, [['a']]],
      [`SELECT x.a FROM past.t FOR VERSION AS OF ${first} AS x(a, b)`, [[1]]],
      [`SELECT old FROM past.t AT (VERSION => ${first})`, [['a']]],
      ["FROM past.t FOR VERSION AS OF 'main'", current],
      ['FROM past.t FOR TIMESTAMP AS OF now()', current],
      ["FROM past.t FOR TIMESTAMP AS OF now() + INTERVAL '1' DAY", current],
      ['FROM past.t AT (TIMESTAMP => current_timestamp + to_days(1))', current],
      ["FROM past.t FOR TIMESTAMP AS OF DATE '2200-01-01'", current],
      ["FROM past.t FOR TIMESTAMP AS OF '2200-01-01 00:00:00 Europe/Berlin' AS x", current],
      ["FROM past.t FOR TIMESTAMP AS OF TIMESTAMP '2200-01-01 00:00:00' AT TIME ZONE 'Asia/Tokyo'", current],
      [`SELECT count(*) FROM past.t FOR TIMESTAMP AS OF TIMESTAMPTZ '${at}'`, [[2n]]],
      [`SELECT count(*) FROM past.t FOR TIMESTAMP AS OF TIMESTAMPTZ '${at}' - INTERVAL 0 SECONDS`, [[2n]]],
      [
        `SELECT n.id, o.id FROM past.t n JOIN past.t FOR VERSION AS OF ${first} o ON n.id > o.id
          WHERE EXISTS (FROM past.t FOR VERSION AS OF ${second} WHERE id = 2)`,
        [[3, 1]],
      ],
      [`WITH p AS (FROM past.t FOR VERSION AS OF ${first}) SELECT count(*) FROM p`, [[1n]]],
      [
        'FROM past.both ORDER BY ALL',
        [
          [3, 'a'],
          [3, null],
        ],
      ],
      [
        `SELECT b.id, c.id, t.id FROM past.both b, past.around c, past.t FOR VERSION AS OF ${first} t LIMIT 1`,
        [[3, 4, 1]],
      ],
    ];
    for (const [sql, answer] of texts) assert.deepEqual(await rows(client, sql), answer, sql);
    assert.equal(
      await client.update(`CREATE TABLE past.copied AS SELECT old FROM past.t FOR VERSION AS OF ${second}`),
      2n,
    );
    const plan = await rows(client, `EXPLAIN FROM past.t FOR VERSION AS OF ${first}`);
    assert.match(plan.flat().join('\n'), new RegExp(`Scan lake\\.past\\.t \\(snapshot ${first}\\)`));
  });

  it('says what cannot be asked for', async () => {
    const refused: readonly (readonly [point: string, code: string])[] = [
      ["VERSION AS OF 'gone'", 'SNAPSHOT_NOT_FOUND'],
      ['VERSION AS OF id', 'NOT_SUPPORTED'],
      ['VERSION AS OF ?', 'INVALID_PARAMETER'],
      ['TIMESTAMP AS OF ?', 'INVALID_PARAMETER'],
      ['VERSION AS OF (SELECT 1)', 'NOT_SUPPORTED'],
      ['VERSION AS OF NULL', 'INVALID_ARGUMENT'],
      ["VERSION AS OF concat('go', 'ne')", 'SNAPSHOT_NOT_FOUND'],
      ["TIMESTAMP AS OF now() - INTERVAL '1' DAY", 'SNAPSHOT_NOT_FOUND'],
      ['TIMESTAMP AS OF now() - id', 'NOT_SUPPORTED'],
      ['TIMESTAMP AS OF (SELECT now())', 'NOT_SUPPORTED'],
      ['TIMESTAMP AS OF now() + to_seconds(random())', 'NOT_SUPPORTED'],
      ["TIMESTAMP AS OF now() + getenv('HOME')", 'FUNCTION_NOT_ALLOWED'],
      ['TIMESTAMP AS OF 5', 'INVALID_ARGUMENT'],
      ["TIMESTAMP AS OF 'never'", 'INVALID_ARGUMENT'],
      ["TIMESTAMP AS OF TIMESTAMP 'infinity'", 'INVALID_ARGUMENT'],
      ['TIMESTAMP AS OF NULL', 'INVALID_ARGUMENT'],
    ];
    for (const [point, code] of refused)
      await assert.rejects(rows(client, `SELECT * FROM past.t FOR ${point}`), { code }, point);
  });
});

function locationOf(table: string): string {
  return service.locations.get(table) ?? '';
}

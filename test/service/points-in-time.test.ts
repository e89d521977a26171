/** Parameters that decide which snapshot a statement reads. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import * as arrow from 'apache-arrow';
import { type Parameter, parameterRow } from './support/parameters.js';
import { readTicket, rows, rowsOf, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

const long = new arrow.Int64();
const text = new arrow.Utf8();
const instant = new arrow.TimestampMillisecond('UTC');

let service: TestService;
let client: FlightClient;
let first: bigint;
let second: bigint;
let between: number;
before(async () => {
  service = await startService();
  client = await service.client();
  await client.update('CREATE SCHEMA past');
  await client.update("CREATE TABLE past.t AS SELECT 1 AS id, 'a' AS old");
  await client.update('INSERT INTO past.t VALUES (2, NULL)');
  await client.update('CREATE OR REPLACE TABLE past.t AS SELECT 3 AS id, true AS fresh');
  const snapshots = await rows(
    client,
    'SELECT snapshot_id, epoch_ms(committed_at) FROM past."t$snapshots" ORDER BY committed_at, operation',
  );
  [first, second] = snapshots.map(([id]) => id as bigint) as [bigint, bigint];
  between = Number(snapshots[1]?.[1]);
});
after(async () => await service[Symbol.asyncDispose]());

describe('a parameter that is a point in time', () => {
  it('decides which snapshot is read, under its own columns', async () => {
    const { handle } = await client.prepare('SELECT * FROM past.t FOR VERSION AS OF ? ORDER BY id');
    const versions: readonly Parameter[] = [
      [long, first],
      [long, second],
      [text, 'main'],
    ];
    const answers: unknown[] = [];
    for (const version of versions) answers.push(await runHandle(handle, [version]));
    assert.deepEqual(answers, [
      [[1, 'a']],
      [
        [1, 'a'],
        [2, null],
      ],
      [[3, true]],
    ]);
  });

  const iso = () => new Date(between).toISOString();
  const millis = () => between;
  const times: readonly (readonly [point: string, type: arrow.DataType, value: () => unknown])[] = [
    ['?', instant, millis],
    ['?', new arrow.TimestampMicrosecond(), millis],
    ['?', text, iso],
    ['CAST(? AS TIMESTAMP)', text, iso],
    ['CAST(? AS TIMESTAMP)', new arrow.TimestampMillisecond(), millis],
    ['CAST(? AS TIMESTAMPTZ) + INTERVAL 0 SECONDS', instant, millis],
    ["TIMESTAMPTZ '1970-01-01 00:00:00+00' + to_milliseconds(?)", long, () => BigInt(between)],
  ];
  for (const [point, type, given] of times)
    it(`is a time or part of an expression: ${point} of ${type}`, async () => {
      const sql = `SELECT count(*) FROM past.t FOR TIMESTAMP AS OF ${point}`;
      assert.deepEqual(await run(sql, [[type, given()]]), [[2n]]);
    });

  it('stands between others, which keep their places', async () => {
    const sql =
      'SELECT o.id, n.id AS other, ? AS x FROM past.t FOR VERSION AS OF ? AS o, past.t FOR VERSION AS OF $2 AS n ' +
      'WHERE o.old = ? AND n.id IN (?, ?) ORDER BY ALL';
    const values: readonly Parameter[] = [
      [text, 'x'],
      [long, second],
      [text, 'a'],
      [long, 2n],
      [long, 7n],
    ];
    assert.deepEqual(await run(sql, values), [[1, 2, 'x']]);
    assert.deepEqual(
      await run('SELECT id FROM past.t FOR VERSION AS OF $snap WHERE id < $Limit AND id >= $low', [
        [long, second],
        [long, 3n],
        [long, 2n],
      ]),
      [[2]],
    );
    assert.deepEqual(await run('SELECT $1 = $1 FROM past.t FOR VERSION AS OF $1', [[long, first]]), [[true]]);
  });

  it('prunes and copies like a constant', async () => {
    assert.deepEqual(await run('SELECT count(*) FROM past."t$files" FOR VERSION AS OF ?', [[long, second]]), [
      [2n],
    ]);
    const { handle } = await client.prepare(
      'CREATE TABLE past.copied AS SELECT old FROM past.t FOR VERSION AS OF ? WHERE id = ?',
    );
    assert.equal(
      await client.updatePrepared(
        handle,
        parameterRow([
          [long, second],
          [long, 1n],
        ]),
      ),
      1n,
    );
    assert.deepEqual(await rows(client, 'FROM past.copied'), [['a']]);
  });

  it('is described with the type that is asked for', async () => {
    const types = async (sql: string) =>
      arrow
        .tableFromIPC((await client.prepare(sql)).parameterSchema)
        .schema.fields.map(({ name, type }) => [name, String(type)]);
    assert.deepEqual(await types('FROM past.t FOR VERSION AS OF ? WHERE id > ?'), [
      ['1', 'Int64'],
      ['2', 'Int32'],
    ]);
    assert.deepEqual(await types('SELECT $b::DATE FROM past.t FOR TIMESTAMP AS OF $a'), [
      ['b', 'Date32<DAY>'],
      ['a', 'Timestamp<MILLISECOND, UTC>'],
    ]);
    assert.deepEqual(await types('FROM past.t FOR VERSION AS OF CAST(? AS VARCHAR)'), [['1', 'Utf8']]);
    assert.deepEqual(await types('FROM past.t FOR TIMESTAMP AS OF ?::TIMESTAMP'), [
      ['1', 'Timestamp<MILLISECOND>'],
    ]);
  });

  it('leaves the columns to be guessed until it is bound: those of now, then those that were', async () => {
    const columns = async (sql: string) =>
      arrow.tableFromIPC((await client.prepare(sql)).datasetSchema).schema.names;
    assert.deepEqual(await columns('FROM past.t FOR VERSION AS OF ?'), ['id', 'fresh']);
    const gone = 'SELECT old FROM past.t FOR VERSION AS OF ?';
    assert.deepEqual(await columns(gone), ['old']);
    assert.deepEqual(await run(gone, [[long, first]]), [['a']]);
    await assert.rejects(run(gone, [[text, 'main']]), { code: 'BINDING_ERROR' });
    await assert.rejects(client.prepare('SELECT never FROM past.t FOR VERSION AS OF ?'), {
      code: 'BINDING_ERROR',
    });
  });

  const refused: readonly (readonly [point: string, parameter: Parameter, code: string])[] = [
    ['VERSION AS OF ?', [long, 5n], 'SNAPSHOT_NOT_FOUND'],
    ['VERSION AS OF ?', [text, 'gone'], 'SNAPSHOT_NOT_FOUND'],
    ['VERSION AS OF ?', [text, "main'; DROP TABLE past.t"], 'SNAPSHOT_NOT_FOUND'],
    ['VERSION AS OF ?', [text, 'ma\0in'], 'SNAPSHOT_NOT_FOUND'],
    ['VERSION AS OF ?', [long, null], 'INVALID_ARGUMENT'],
    ['VERSION AS OF ?', [text, null], 'INVALID_ARGUMENT'],
    ['VERSION AS OF ?', [new arrow.Null(), null], 'INVALID_ARGUMENT'],
    ['VERSION AS OF ?', [new arrow.Float64(), 1.5], 'INVALID_ARGUMENT'],
    ['VERSION AS OF ?', [new arrow.Bool(), true], 'INVALID_ARGUMENT'],
    ['VERSION AS OF ?', [new arrow.List(new arrow.Field('l', long)), [1n]], 'INVALID_PARAMETER'],
    ['TIMESTAMP AS OF ?', [instant, 0], 'SNAPSHOT_NOT_FOUND'],
    ['TIMESTAMP AS OF ?', [long, 5n], 'INVALID_ARGUMENT'],
    ['TIMESTAMP AS OF ?', [text, 'never'], 'INVALID_ARGUMENT'],
    ['TIMESTAMP AS OF ?', [instant, null], 'INVALID_ARGUMENT'],
    ['TIMESTAMP AS OF CAST(? AS TIMESTAMP)', [text, 'never'], 'INVALID_ARGUMENT'],
    ['TIMESTAMP AS OF now() - ?', [text, 'x'], 'INVALID_ARGUMENT'],
  ];
  for (const [point, parameter, code] of refused)
    it(`is refused: ${point} of ${String(parameter[0])} ${String(parameter[1])}`, async () => {
      await assert.rejects(run(`FROM past.t FOR ${point}`, [parameter]), { code });
    });

  it('has to be bound, once', async () => {
    const { handle } = await client.prepare('FROM past.t FOR VERSION AS OF ?');
    await assert.rejects(client.planPrepared(handle), {
      code: 'INVALID_PARAMETER',
      message: 'Parameter 1 has no value.',
    });
    await assert.rejects(value(client, 'FROM past.t FOR VERSION AS OF ?'), { code: 'INVALID_PARAMETER' });
    await assert.rejects(client.update('CREATE VIEW past.v AS FROM past.t FOR VERSION AS OF ?'), {
      code: 'NOT_SUPPORTED',
    });
    const { handle: several } = await client.prepare('INSERT INTO past.t FROM past.t FOR VERSION AS OF ?');
    const two = arrow.tableToIPC(
      new arrow.Table({ p: arrow.vectorFromArray([first, second], long) }),
      'stream',
    );
    await assert.rejects(client.updatePrepared(several, two), { code: 'NOT_SUPPORTED' });
  });
});

async function run(sql: string, parameters: readonly Parameter[]) {
  return await runHandle((await client.prepare(sql)).handle, parameters);
}

async function runHandle(handle: Uint8Array, parameters: readonly Parameter[]) {
  const { tickets } = await client.planPrepared(await client.bind(handle, parameterRow(parameters)));
  return rowsOf(await readTicket(client, tickets[0]));
}

/** Names with everything that a name can have, through all statements that write. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { quoteIdentifier } from '@svc/sql';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
before(async () => {
  service = await startService();
  await (await service.client()).update('CREATE SCHEMA sales');
});
after(async () => await service[Symbol.asyncDispose]());

const names = [
  'a.b',
  '..',
  '../../etc',
  '"quoted"',
  "it's",
  '🦆 東京 ünïcode',
  ' ',
  'select',
  'metadata',
  '%2F?#*[x]',
  'line\nbreak',
  'x.db',
];
const longName = 'n'.repeat(1000);

describe('names', () => {
  for (const name of names)
    it(`like ${JSON.stringify(name)} are those of tables, columns and partitions`, async () => {
      const client = await service.client();
      const quoted = quoteIdentifier(name);
      const table = `sales.${quoted}`;
      await client.update(
        `CREATE TABLE ${table} (id INT, ${quoted} VARCHAR) PARTITIONED BY (${quoted}, truncate(2, ${quoted}))`,
      );
      await client.update(`INSERT INTO ${table} VALUES (1, 'one')`);
      await client.update(`INSERT INTO ${table} (${quoted}) VALUES ('two')`);
      await client.update(`INSERT INTO ${table} BY NAME SELECT 'three' AS ${quoted}, 3 AS id`);
      assert.equal(await client.update(`CREATE OR REPLACE TABLE ${table} AS SELECT * FROM ${table}`), 3n);
      assert.equal(await value(client, `SELECT id FROM ${table} WHERE ${quoted} = 'three'`), 3);
      assert.ok((await rows(client, 'SHOW TABLES IN sales')).some(([found]) => found === name));
      await client.update(`DROP TABLE ${table} PURGE`);
    });

  it('of 1,000 characters are those of columns, and refused where a folder would be too long', async () => {
    const client = await service.client();
    await client.update(`CREATE TABLE sales.long AS SELECT 1 AS ${longName}`);
    assert.deepEqual(await rows(client, `SELECT ${longName} FROM sales.long`), [[1]]);
    const refused = { code: 'INVALID_ARGUMENT', message: /too long for a folder \(255 bytes\)/ };
    for (const sql of [
      `CREATE TABLE sales.${longName} (a INT)`,
      `CREATE TABLE sales.${longName} AS SELECT 1 AS a`,
      `CREATE OR REPLACE TABLE sales.${longName} AS SELECT 1 AS a`,
      `CREATE SCHEMA ${longName}`,
      `CREATE VIEW sales.${longName} AS SELECT 1 AS a`,
    ])
      await assert.rejects(client.update(sql), refused, sql.slice(0, 40));
    assert.deepEqual(await readdir(service.catalogPath), ['sales']);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({ tables: standardTables });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('queries', () => {
  it('answer without any table', async () => {
    assert.deepEqual(await rows(client, 'SELECT 1 AS a, NULL AS b'), [[1, null]]);
  });
  it('read a table', async () => {
    assert.equal(await value(client, 'SELECT count(*) FROM sales.orders'), 20480n);
  });
});

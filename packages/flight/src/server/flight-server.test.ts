import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { QueryError } from '@svc/base';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { joinIpcStream, schemaMessage } from '../arrow/ipc-message.js';
import type { FlightClient } from '../client/flight-client.js';
import type { IpcMessage } from '../framing/flight-data.js';
import {
  ActionTypeSchema,
  CloseSessionResultSchema,
  GetSessionOptionsResultSchema,
  SetSessionOptionsRequestSchema,
  SetSessionOptionsResultSchema,
} from '../gen/Flight_pb.js';
import * as sql from '../gen/FlightSql_pb.js';
import { encodeMessage, packAny } from '../messages/any.js';
import { createFakeBackend, resultOf, sampleStatement } from '../test-support/fake-backend.js';
import { readAll, startServerAndClient } from '../test-support/server-and-client.js';

async function tableOf(client: FlightClient, command: Uint8Array) {
  const { schema, tickets } = await client.plan(command);
  const messages = [];
  for (const ticket of tickets) for await (const message of client.read(ticket)) messages.push(message);
  assert.deepEqual(Buffer.from(messages[0]?.header ?? []), schemaMessage(schema).header, 'FlightInfo.schema');
  return tableFromIPC(joinIpcStream(messages));
}

const rowsOf = (table: { toArray(): readonly unknown[] }) => JSON.parse(JSON.stringify(table.toArray()));

test('a statement answers its rows with exactly the schema of GetFlightInfo', async () => {
  using flight = await startServerAndClient();
  const table = await tableOf(flight.client, packAny(sql.CommandStatementQuerySchema, { query: 'select 1' }));
  assert.deepEqual(
    table.toArray().map((row) => row.toJSON()),
    [
      { id: 1n, name: 'one' },
      { id: 2n, name: null },
    ],
  );
});

test('a prepared statement is prepared, bound, planned and closed', async () => {
  using flight = await startServerAndClient();
  const { client, backend } = flight;
  const prepared = await client.prepare('select ?');
  assert.equal(prepared.isUpdate, false);
  const parameters = tableToIPC(tableFromArrays({ '0': BigInt64Array.of(42n) }), 'stream');
  const bound = await client.bind(prepared.handle, parameters);
  assert.equal(Buffer.from(bound).toString(), 'select ? bound');
  assert.deepEqual(
    tableFromIPC(backend.record.boundParameters[0])
      .toArray()
      .map((row) => row.toJSON()),
    [{ '0': 42n }],
  );
  assert.equal((await client.planPrepared(bound)).tickets.length, 1);
  await client.closePrepared(bound);
});

test('binding a batch without columns changes nothing, as JDBC does for a statement without parameters', async () => {
  using flight = await startServerAndClient();
  const prepared = await flight.client.prepare('select 1');
  const nothing = tableToIPC(tableFromArrays({}), 'stream');
  assert.deepEqual(await flight.client.bind(prepared.handle, nothing), prepared.handle);
  assert.equal(flight.backend.record.boundParameters.length, 0);
});

test('statements that change something answer how many rows they changed', async () => {
  using flight = await startServerAndClient();
  const { client, backend } = flight;
  assert.equal(await client.update('insert into t select 1'), 3n);
  assert.equal(backend.record.statements.at(-1), 'insert into t select 1');
  const { handle } = await client.prepare('insert into t values (?)');
  assert.equal(await client.updatePrepared(handle), 5n);
  assert.equal(backend.record.boundParameters.length, 0);
  const parameters = tableToIPC(tableFromArrays({ '0': BigInt64Array.of(1n, 2n) }), 'stream');
  assert.equal(await client.updatePrepared(handle, parameters), 5n);
  assert.equal(tableFromIPC(backend.record.boundParameters[0]).numRows, 2);
});

test('metadata commands answer from their own ticket', async () => {
  using flight = await startServerAndClient();
  const { client } = flight;
  assert.deepEqual(rowsOf(await tableOf(client, packAny(sql.CommandGetCatalogsSchema, {}))), [
    { catalog_name: 'archive' },
    { catalog_name: 'lake' },
  ]);
  const schemas = packAny(sql.CommandGetDbSchemasSchema, { catalog: 'lake', dbSchemaFilterPattern: 'a\\_b' });
  assert.deepEqual(rowsOf(await tableOf(client, schemas)), [{ catalog_name: 'lake', db_schema_name: 'a_b' }]);
  assert.deepEqual(rowsOf(await tableOf(client, packAny(sql.CommandGetTableTypesSchema, {}))), [
    { table_type: 'TABLE' },
    { table_type: 'VIEW' },
  ]);
  assert.equal((await tableOf(client, packAny(sql.CommandGetSqlInfoSchema, { info: [0, 8] }))).numRows, 2);
});

test('tables carry their schema only when it is asked for', async () => {
  using flight = await startServerAndClient();
  const plain = packAny(sql.CommandGetTablesSchema, { tableNameFilterPattern: 'order\\_%' });
  assert.deepEqual(rowsOf(await tableOf(flight.client, plain)), [
    { catalog_name: 'lake', db_schema_name: 'main', table_name: 'order_lines', table_type: 'VIEW' },
  ]);
  const withSchema = packAny(sql.CommandGetTablesSchema, { includeSchema: true });
  const table = await tableOf(flight.client, withSchema);
  const [first] = table.toArray();
  assert.deepEqual(
    tableFromIPC(first?.toJSON().table_schema as Uint8Array).schema.fields.map(({ name }) => name),
    ['id', 'name'],
  );
});

test('an empty metadata answer is a stream with a schema', async () => {
  using flight = await startServerAndClient();
  const none = packAny(sql.CommandGetTablesSchema, { tableNameFilterPattern: 'nothing' });
  const table = await tableOf(flight.client, none);
  assert.deepEqual([table.numRows, table.schema.fields.length], [0, 4]);
});

test('session options are set, answered, reset, and refused by name', async () => {
  using flight = await startServerAndClient();
  const set = async (options: Record<string, unknown>) => {
    const body = toBinary(
      SetSessionOptionsRequestSchema,
      create(SetSessionOptionsRequestSchema, { sessionOptions: options as never }),
    );
    const [answer] = await flight.client.action('SetSessionOptions', body);
    return fromBinary(SetSessionOptionsResultSchema, answer ?? new Uint8Array());
  };
  const get = async () => {
    const [answer] = await flight.client.action('GetSessionOptions', new Uint8Array());
    const { sessionOptions } = fromBinary(GetSessionOptionsResultSchema, answer ?? new Uint8Array());
    return Object.fromEntries(
      Object.entries(sessionOptions).map(([name, { optionValue }]) => [name, optionValue]),
    );
  };
  await set({
    catalog: { optionValue: { case: 'stringValue', value: 'lake' } },
    limit: { optionValue: { case: 'int64Value', value: 2n ** 53n + 1n } },
    paths: { optionValue: { case: 'stringListValue', value: { values: ['a', 'b'] } } },
  });
  const { limit } = await get();
  assert.deepEqual(limit, { case: 'int64Value', value: 2n ** 53n + 1n });
  const { errors } = await set({
    catalog: { optionValue: { case: undefined } },
    unknown: { optionValue: { case: 'boolValue', value: true } },
  });
  assert.deepEqual(
    Object.entries(errors).map(([name, { value }]) => [name, value]),
    [['unknown', 1]],
  );
  assert.deepEqual(Object.keys(await get()).sort(), ['limit', 'paths']);
});

test('a closed session is no longer accepted', async () => {
  using flight = await startServerAndClient();
  const [answer] = await flight.client.action('CloseSession', new Uint8Array());
  assert.equal(fromBinary(CloseSessionResultSchema, answer ?? new Uint8Array()).status, 1);
  await assert.rejects(flight.client.planStatement('select 1'), { code: 'SESSION_EXPIRED' });
});

for (const [name, schema] of [
  ['CommandStatementUpdate', sql.CommandStatementUpdateSchema],
  ['CommandStatementIngest', sql.CommandStatementIngestSchema],
] as const) {
  test(`${name} is refused by its name`, async () => {
    using flight = await startServerAndClient();
    await assert.rejects(flight.client.plan(packAny(schema, {})), {
      code: 'NOT_SUPPORTED',
      message: new RegExp(name),
    });
  });
}

for (const [name, schema, columnCount, rowCount = 0] of [
  ['CommandGetXdbcTypeInfo', sql.CommandGetXdbcTypeInfoSchema, 19, 14],
  ['CommandGetPrimaryKeys', sql.CommandGetPrimaryKeysSchema, 6],
  ['CommandGetExportedKeys', sql.CommandGetExportedKeysSchema, 13],
  ['CommandGetImportedKeys', sql.CommandGetImportedKeysSchema, 13],
  ['CommandGetCrossReference', sql.CommandGetCrossReferenceSchema, 13],
] as const) {
  test(`${name} is answered with the columns of the format`, async () => {
    using flight = await startServerAndClient();
    const { tickets } = await flight.client.plan(packAny(schema, {}));
    const messages: IpcMessage[] = [];
    for await (const message of flight.client.read(tickets[0] ?? new Uint8Array())) messages.push(message);
    const table = tableFromIPC(joinIpcStream(messages));
    assert.deepEqual([table.numRows, table.schema.fields.length], [rowCount, columnCount]);
  });
}

test('an unknown action names those that exist', async () => {
  using flight = await startServerAndClient();
  for (const type of ['BeginTransaction', 'EndTransaction', 'constructor', ''])
    await assert.rejects(flight.client.action(type, new Uint8Array()), {
      code: 'NOT_SUPPORTED',
      message: /CreatePreparedStatement, ClosePreparedStatement/,
    });
});

test('a transaction id is refused, not ignored', async () => {
  using flight = await startServerAndClient();
  const command = packAny(sql.CommandStatementQuerySchema, {
    query: 'select 1',
    transactionId: Buffer.from('t'),
  });
  await assert.rejects(flight.client.plan(command), { code: 'NOT_SUPPORTED', message: /transaction/i });
});

test('garbage in every place is an error with a code, and the server goes on', async () => {
  using flight = await startServerAndClient();
  const { client } = flight;
  const garbage = [
    Buffer.alloc(0),
    Buffer.from('not protobuf'),
    Buffer.alloc(100, 0xff),
    encodeMessage(AnySchema, { typeUrl: 'type.googleapis.com/nobody.Knows', value: Buffer.from('x') }),
    encodeMessage(AnySchema, {
      typeUrl: 'type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery',
      value: Buffer.alloc(20, 0xff),
    }),
    encodeMessage(AnySchema, { typeUrl: `x/${'y'.repeat(10_000)}`, value: Buffer.alloc(0) }),
  ];
  for (const bytes of garbage) {
    await assert.rejects(client.plan(bytes), { code: 'INVALID_ARGUMENT' });
    await assert.rejects(client.read(bytes).next(), { code: 'TICKET_INVALID' });
    await assert.rejects(client.action('CreatePreparedStatement', bytes), { code: 'INVALID_ARGUMENT' });
  }
  await assert.rejects(client.action('SetSessionOptions', Buffer.alloc(100, 0xff)), {
    code: 'INVALID_ARGUMENT',
  });
  assert.equal((await readAll(client, 'select 1')).length, 2);
});

test('an SQL text of 10 MB reaches the backend', async () => {
  const backend = createFakeBackend();
  backend.planStatement = async (_session, text) => {
    throw new QueryError('STATEMENT_TOO_LARGE', `${text.length}`);
  };
  using flight = await startServerAndClient(backend);
  await assert.rejects(flight.client.planStatement(' '.repeat(10_000_000)), {
    code: 'STATEMENT_TOO_LARGE',
    message: '10000000',
  });
});

test('a request above the limit is refused with a code', async () => {
  using flight = await startServerAndClient(createFakeBackend(), { limits: { maxReceiveBytes: 1000 } });
  await assert.rejects(flight.client.planStatement(' '.repeat(2000)), {
    code: 'INVALID_ARGUMENT',
    message: /larger than max/,
  });
});

test('parameters above the limit are refused', async () => {
  using flight = await startServerAndClient(createFakeBackend(), { limits: { maxParameterBytes: 1000 } });
  const parameters = tableToIPC(tableFromArrays({ '0': new BigInt64Array(1000) }), 'stream');
  await assert.rejects(flight.client.bind(Buffer.from('p'), parameters), {
    code: 'INVALID_ARGUMENT',
    message: /1000 bytes/,
  });
});

test('an error keeps its code, whatever its text', async () => {
  for (const text of ['plain', 'ünïcode \ud800 % \0 \n', '語'.repeat(14_000), 'x'.repeat(14_000)]) {
    const backend = createFakeBackend();
    backend.planStatement = async () => {
      throw new QueryError('SYNTAX_ERROR', text);
    };
    using flight = await startServerAndClient(backend);
    await assert.rejects(flight.client.planStatement('x'), { code: 'SYNTAX_ERROR' });
  }
});

test('an error in mid-stream follows the rows that came before it', async () => {
  const backend = createFakeBackend((text, context, record) => ({
    ...sampleStatement(text, context, record),
    messages: (async function* () {
      yield* sampleStatement(text, context, record).messages;
      throw new QueryError('ENGINE_CRASHED', 'the engine ended');
    })(),
  }));
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('select 1');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  assert.equal((await stream.next()).done, false);
  await assert.rejects(stream.next(), { code: 'ENGINE_CRASHED', message: 'the engine ended' });
});

test('the backend sees the call, without its secrets', async () => {
  using flight = await startServerAndClient();
  await flight.client.planStatement('select 1', {
    headers: { 'x-request-id': 'r-1', cookie: 'secret', traceparent: '00-1' },
  });
  const context = flight.backend.record.contexts.at(-1);
  assert.equal(context?.clientAddress, '127.0.0.1');
  assert.equal(context?.isConfidential, true);
  assert.equal(context?.headers.get('x-request-id'), 'r-1');
  assert.equal(context?.headers.get('traceparent'), '00-1');
  assert.equal(context?.headers.has('authorization') || context?.headers.has('cookie'), false);
  assert.equal(context?.signal.aborted, false);
});

test('ListActions names exactly what DoAction runs', async () => {
  using flight = await startServerAndClient();
  const names = (await flight.client.listActions()).map((bytes) => fromBinary(ActionTypeSchema, bytes).type);
  assert.deepEqual(names, [
    'CreatePreparedStatement',
    'ClosePreparedStatement',
    'CancelFlightInfo',
    'CancelQuery',
    'RenewFlightEndpoint',
    'SetSessionOptions',
    'GetSessionOptions',
    'CloseSession',
  ]);
});

test('an address that is taken is a configuration error that names it', async () => {
  using flight = await startServerAndClient();
  const { port } = flight.server;
  await assert.rejects(startServerAndClient(createFakeBackend(), { port }), {
    code: 'CONFIGURATION_ERROR',
    message: new RegExp(`127.0.0.1:${port}`),
  });
});

test('a certificate that is none is a configuration error', async () => {
  const tls = { certPem: 'nonsense', keyPem: 'nonsense' };
  await assert.rejects(startServerAndClient(createFakeBackend(), { tls }), { code: 'CONFIGURATION_ERROR' });
});

test('a result without rows is its schema', async () => {
  const backend = createFakeBackend((text, context, record) => ({
    ...sampleStatement(text, context, record),
    messages: resultOf(tableFromArrays({}).schema, [], record).messages,
  }));
  using flight = await startServerAndClient(backend);
  assert.equal((await readAll(flight.client, 'select 1')).length, 1);
});

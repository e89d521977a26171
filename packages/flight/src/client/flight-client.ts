import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Metadata } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { splitIpcStream } from '../arrow/ipc-message.js';
import { encodeSchema, schemaOf } from '../arrow/table-message.js';
import { encodeFlightData, type IpcMessage } from '../framing/flight-data.js';
import {
  ActionSchema,
  CancelFlightInfoRequestSchema,
  CancelFlightInfoResultSchema,
  CancelStatus,
  FlightDataSchema,
  FlightDescriptor_DescriptorType,
  FlightDescriptorSchema,
  FlightEndpointSchema,
  FlightInfoSchema,
  HandshakeRequestSchema,
  PutResultSchema,
  RenewFlightEndpointRequestSchema,
  ResultSchema,
  TicketSchema,
} from '../gen/Flight_pb.js';
import {
  ActionClosePreparedStatementRequestSchema,
  ActionCreatePreparedStatementRequestSchema,
  ActionCreatePreparedStatementResultSchema,
  CommandPreparedStatementQuerySchema,
  CommandPreparedStatementUpdateSchema,
  CommandStatementIngestSchema,
  CommandStatementQuerySchema,
  CommandStatementUpdateSchema,
  DoPutPreparedStatementResultSchema,
  DoPutUpdateResultSchema,
  CommandStatementIngest_TableDefinitionOptions_TableExistsOption as ExistsOption,
  CommandStatementIngest_TableDefinitionOptions_TableNotExistOption as NotExistOption,
} from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage, packAny, unpackAnyOf } from '../messages/any.js';
import type { FlightMethod } from '../server/service-definition.js';
import { type ChannelOptions, openChannel } from './channel.js';
import { openRawCall, type RawCall } from './raw-call.js';

export type FlightClientOptions = Omit<ChannelOptions, 'windowBytes' | 'maxReconnectMs'>;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  /** More request headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FlightQuery {
  /** Encapsulated Arrow IPC schema; what `read` of the tickets begins with. */
  readonly schema: Uint8Array;
  readonly tickets: readonly Uint8Array[];
  /** What the server says of the result's size; -1 where it does not. */
  readonly totalRecords: bigint;
  readonly totalBytes: bigint;
}

export interface ClientPreparedStatement {
  readonly handle: Uint8Array;
  readonly datasetSchema: Uint8Array;
  readonly parameterSchema: Uint8Array;
  readonly isUpdate: boolean;
}

export interface ClientIngestTarget {
  readonly table: string;
  readonly schema?: string;
  readonly catalog?: string;
  readonly temporary?: boolean;
  readonly ifNotExists: 'create' | 'fail';
  readonly ifExists: 'fail' | 'append' | 'replace';
}

/** A Flight SQL client for our own parts and for tests. Errors are QueryErrors with the server's code. */
export interface FlightClient {
  /** Signs in by Handshake; later calls carry the bearer, which is answered too. */
  signIn(username: string, password: string, options?: CallOptions): Promise<string>;
  /** Uses this bearer from now on. */
  useBearer(bearer: string): void;
  planStatement(sql: string, options?: CallOptions): Promise<FlightQuery>;
  planPrepared(handle: Uint8Array, options?: CallOptions): Promise<FlightQuery>;
  /** Ends what runs for a ticket, and gives it up. Answers whether something still ends. */
  cancel(ticket: Uint8Array, options?: CallOptions): Promise<'cancelled' | 'cancelling' | 'not-cancellable'>;
  /** Keeps a ticket; answers until when, in milliseconds since 1970, or undefined for one that does not expire. */
  renew(ticket: Uint8Array, options?: CallOptions): Promise<number | undefined>;
  /** GetFlightInfo of any command, already packed in an Any. */
  plan(command: Uint8Array, options?: CallOptions): Promise<FlightQuery>;
  /** The messages of a ticket, the schema first; each is read from the connection when it is asked for. */
  read(ticket: Uint8Array, options?: CallOptions): AsyncGenerator<IpcMessage, void, undefined>;
  prepare(sql: string, options?: CallOptions): Promise<ClientPreparedStatement>;
  /** Binds an Arrow IPC stream; answers the handle to use from now on. */
  bind(handle: Uint8Array, parameters: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Runs a statement that changes something; answers the number of rows. */
  update(sql: string, options?: CallOptions): Promise<bigint>;
  /** With parameters (an Arrow IPC stream), the statement runs for each row of them. */
  updatePrepared(handle: Uint8Array, parameters?: Uint8Array, options?: CallOptions): Promise<bigint>;
  /** Uploads rows: an IPC schema message and its batches, taken as the server takes them. Answers their number. */
  ingest(
    target: ClientIngestTarget,
    messages: Iterable<IpcMessage> | AsyncIterable<IpcMessage>,
    options?: CallOptions,
  ): Promise<bigint>;
  closePrepared(handle: Uint8Array, options?: CallOptions): Promise<void>;
  /** Runs an action; the bodies of its results. */
  action(type: string, body: Uint8Array, options?: CallOptions): Promise<readonly Uint8Array[]>;
  /** The ActionType messages of the server. */
  listActions(options?: CallOptions): Promise<readonly Uint8Array[]>;
  /** Ends the connection and every call on it. Idempotent. */
  close(): void;
}

/** A stream of no columns: what stands behind the command of an update without parameters. */
const noRows = encodeSchema(schemaOf([]));

/** Connects lazily: the first call finds out whether anybody is there (PEER_UNAVAILABLE). */
export function createFlightClient(options: FlightClientOptions): FlightClient {
  const channel = openChannel(options);
  // A closed channel lets its calls go on: they are ended here.
  const openCalls = new Set<RawCall>();
  let bearer: string | undefined;

  const open = (method: FlightMethod, call: CallOptions, authorization: string | undefined): RawCall => {
    const metadata = new Metadata();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    for (const [name, value] of Object.entries(call.headers ?? {})) metadata.set(name, value);
    const raw = openRawCall({ channel, method, metadata, signal: call.signal, deadlineMs: call.deadlineMs });
    openCalls.add(raw);
    return {
      ...raw,
      [Symbol.dispose]: () => {
        openCalls.delete(raw);
        raw[Symbol.dispose]();
      },
    };
  };

  async function* requestStream(
    method: FlightMethod,
    request: Buffer,
    callOptions: CallOptions,
  ): AsyncGenerator<Buffer, void, undefined> {
    using call = open(method, callOptions, bearer === undefined ? undefined : `Bearer ${bearer}`);
    await call.send(request);
    call.halfClose();
    for (let message = await call.read(); message !== undefined; message = await call.read()) yield message;
  }

  const requestAll = async (
    method: FlightMethod,
    request: Buffer,
    callOptions: CallOptions,
  ): Promise<Buffer[]> => {
    const messages: Buffer[] = [];
    for await (const message of requestStream(method, request, callOptions)) messages.push(message);
    return messages;
  };

  const requestOne = async <D extends DescMessage>(
    method: FlightMethod,
    request: Buffer,
    answer: D,
    callOptions: CallOptions,
  ): Promise<MessageShape<D>> => {
    const [message] = await requestAll(method, request, callOptions);
    return decodeMessage(answer, present(message, method), 'The answer');
  };

  const plan = async (command: Uint8Array, callOptions: CallOptions = {}): Promise<FlightQuery> => {
    const descriptor = { type: FlightDescriptor_DescriptorType.CMD, cmd: command };
    const request = encodeMessage(FlightDescriptorSchema, descriptor);
    const info = await requestOne('GetFlightInfo', request, FlightInfoSchema, callOptions);
    return {
      schema: info.schema,
      tickets: info.endpoint.map(({ ticket }) => present(ticket, 'GetFlightInfo').ticket),
      totalRecords: info.totalRecords,
      totalBytes: info.totalBytes,
    };
  };

  const action = async (type: string, body: Uint8Array, callOptions: CallOptions = {}) => {
    const results = await requestAll('DoAction', encodeMessage(ActionSchema, { type, body }), callOptions);
    return results.map((result) => decodeMessage(ResultSchema, result, 'The answer').body);
  };

  /** One DoPut: the command with the first message of the stream; answers the metadata of the server's one result. */
  const put = async (
    command: Buffer,
    messages: Iterable<IpcMessage> | AsyncIterable<IpcMessage>,
    callOptions: CallOptions = {},
  ): Promise<Uint8Array> => {
    using call = open('DoPut', callOptions, bearer === undefined ? undefined : `Bearer ${bearer}`);
    let descriptor: Buffer | undefined = encodeMessage(FlightDescriptorSchema, {
      type: FlightDescriptor_DescriptorType.CMD,
      cmd: command,
    });
    for await (const message of messages) {
      await call.send(encodeFlightData(message, descriptor));
      descriptor = undefined;
    }
    call.halfClose();
    const answer = decodeMessage(PutResultSchema, present(await call.read(), 'DoPut'), 'The answer');
    while ((await call.read()) !== undefined);
    return answer.appMetadata;
  };

  return {
    async signIn(username, password, callOptions = {}) {
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      using call = open('Handshake', callOptions, `Basic ${basic}`);
      await call.send(encodeMessage(HandshakeRequestSchema, {}));
      call.halfClose();
      while ((await call.read()) !== undefined);
      bearer = present(bearerOf(call.headers()) ?? bearerOf(call.trailers()), 'Handshake');
      return bearer;
    },
    useBearer(value) {
      bearer = value;
    },
    plan,
    async cancel(ticket, callOptions) {
      const body = encodeMessage(CancelFlightInfoRequestSchema, {
        info: { endpoint: [{ ticket: { ticket } }] },
      });
      const [answer] = await action('CancelFlightInfo', body, callOptions);
      const { status } = decodeMessage(
        CancelFlightInfoResultSchema,
        present(answer, 'CancelFlightInfo'),
        'The answer',
      );
      if (status === CancelStatus.NOT_CANCELLABLE) return 'not-cancellable';
      return status === CancelStatus.CANCELLED ? 'cancelled' : 'cancelling';
    },
    async renew(ticket, callOptions) {
      const body = encodeMessage(RenewFlightEndpointRequestSchema, { endpoint: { ticket: { ticket } } });
      const [answer] = await action('RenewFlightEndpoint', body, callOptions);
      const { expirationTime } = decodeMessage(
        FlightEndpointSchema,
        present(answer, 'RenewFlightEndpoint'),
        'The answer',
      );
      return expirationTime && timestampMs(expirationTime);
    },
    planStatement: (sql, callOptions) =>
      plan(packAny(CommandStatementQuerySchema, { query: sql }), callOptions),
    planPrepared: (handle, callOptions) =>
      plan(packAny(CommandPreparedStatementQuerySchema, { preparedStatementHandle: handle }), callOptions),
    async *read(ticket, callOptions = {}) {
      for await (const message of requestStream(
        'DoGet',
        encodeMessage(TicketSchema, { ticket }),
        callOptions,
      )) {
        const data = decodeMessage(FlightDataSchema, message, 'A result message');
        yield { header: data.dataHeader, body: data.dataBody };
      }
    },
    async prepare(sql, callOptions) {
      const body = packAny(ActionCreatePreparedStatementRequestSchema, { query: sql });
      const [answer] = await action('CreatePreparedStatement', body, callOptions);
      const prepared = unpackAnyOf(
        ActionCreatePreparedStatementResultSchema,
        present(answer, 'CreatePreparedStatement'),
        'The answer',
      );
      return {
        handle: prepared.preparedStatementHandle,
        datasetSchema: prepared.datasetSchema,
        parameterSchema: prepared.parameterSchema,
        isUpdate: prepared.isUpdate ?? prepared.datasetSchema.length === 0,
      };
    },
    async bind(handle, parameters, callOptions) {
      const command = packAny(CommandPreparedStatementQuerySchema, { preparedStatementHandle: handle });
      const answer = await put(command, splitIpcStream(parameters), callOptions);
      const result = decodeMessage(DoPutPreparedStatementResultSchema, answer, 'The answer');
      return result.preparedStatementHandle ?? handle;
    },
    async update(sql, callOptions) {
      const answer = await put(
        packAny(CommandStatementUpdateSchema, { query: sql }),
        splitIpcStream(noRows),
        callOptions,
      );
      return decodeMessage(DoPutUpdateResultSchema, answer, 'The answer').recordCount;
    },
    async updatePrepared(handle, parameters = noRows, callOptions = {}) {
      const command = packAny(CommandPreparedStatementUpdateSchema, { preparedStatementHandle: handle });
      const answer = await put(command, splitIpcStream(parameters), callOptions);
      return decodeMessage(DoPutUpdateResultSchema, answer, 'The answer').recordCount;
    },
    async ingest({ ifNotExists, ifExists, ...target }, messages, callOptions) {
      const command = packAny(CommandStatementIngestSchema, {
        ...target,
        tableDefinitionOptions: {
          ifNotExist: NotExistOption[ifNotExists === 'create' ? 'CREATE' : 'FAIL'],
          ifExists: ExistsOption[ifExists === 'fail' ? 'FAIL' : ifExists === 'append' ? 'APPEND' : 'REPLACE'],
        },
      });
      const answer = await put(command, messages, callOptions);
      return decodeMessage(DoPutUpdateResultSchema, answer, 'The answer').recordCount;
    },
    async closePrepared(handle, callOptions) {
      const body = packAny(ActionClosePreparedStatementRequestSchema, { preparedStatementHandle: handle });
      await action('ClosePreparedStatement', body, callOptions);
    },
    action,
    listActions: (callOptions = {}) => requestAll('ListActions', Buffer.alloc(0), callOptions),
    close() {
      for (const call of openCalls) call[Symbol.dispose]();
      openCalls.clear();
      channel.close();
    },
  };
}

function bearerOf(metadata: Metadata | undefined): string | undefined {
  const value = metadata?.get('authorization')[0];
  return typeof value === 'string' && value.startsWith('Bearer ') ? value.slice('Bearer '.length) : undefined;
}

function present<T>(value: T | undefined, method: string): T {
  if (value === undefined)
    throw new QueryError('PEER_UNAVAILABLE', `The server's answer to ${method} is not complete.`);
  return value;
}
